// morph makes what a page shows equal to what it is to show, and touches only what differs:
// focus, selections, scroll positions, presses that have begun and opened details stay.

const parsed = document.createElement("template");

export function morph(there, html) {
  if (!there.firstChild) { there.innerHTML = String(html); return; }
  parsed.innerHTML = String(html);
  children(there, parsed.content);
  parsed.textContent = "";
}

function children(there, next) {
  let at = there.firstChild;
  for (let want = next.firstChild, after; want; want = after) {
    after = want.nextSibling;
    if (want.id && !(at && at.id === want.id)) {
      const known = Array.from(there.children).find(c => c.id === want.id);
      if (known) { there.insertBefore(known, at); at = known; }
    }
    if (at && alike(at, want)) {
      if (at.nodeType !== Node.ELEMENT_NODE) { if (at.data !== want.data) at.data = want.data; } else if (!at.isEqualNode(want)) element(at, want);
      at = at.nextSibling;
    } else {
      there.insertBefore(want, at);
    }
  }
  while (at) { const after = at.nextSibling; at.remove(); at = after; }
}

function alike(a, b) {
  return a.nodeType === b.nodeType && (a.nodeType !== Node.ELEMENT_NODE || (a.localName === b.localName && a.id === b.id));
}

// What people have changed by themselves is theirs: opened details, fields, pictures.
const theirs = (there, name) => (there.localName === "details" && name === "open") || there.hasAttribute("data-own");

function element(there, want) {
  for (const {name, value} of want.attributes) {
    if (there.getAttribute(name) !== value && !theirs(there, name)) there.setAttribute(name, value);
  }
  for (let i = there.attributes.length - 1; i >= 0; i--) {
    const {name} = there.attributes[i];
    if (!want.hasAttribute(name) && !theirs(there, name)) there.removeAttribute(name);
  }
  if (!there.hasAttribute("data-own")) children(there, want);
}
