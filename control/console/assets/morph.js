// morph makes what a page shows equal to what it is to show, and touches only what differs:
// focus, selections, scroll positions, presses that have begun and opened details stay.

export function morph(there, html) {
  const next = document.createElement("div");
  next.innerHTML = String(html);
  children(there, next);
}

function children(there, next) {
  let at = there.firstChild;
  for (const want of Array.from(next.childNodes)) {
    if (want.id && !(at && at.id === want.id)) {
      const known = Array.from(there.children).find(c => c.id === want.id);
      if (known) { there.insertBefore(known, at); at = known; }
    }
    if (at && alike(at, want)) {
      if (at.nodeType === Node.ELEMENT_NODE) element(at, want);
      else if (at.data !== want.data) at.data = want.data;
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
  for (const {name, value} of Array.from(want.attributes)) {
    if (there.getAttribute(name) !== value && !theirs(there, name)) there.setAttribute(name, value);
  }
  for (const {name} of Array.from(there.attributes)) {
    if (!want.hasAttribute(name) && !theirs(there, name)) there.removeAttribute(name);
  }
  if (!there.hasAttribute("data-own")) children(there, want);
}
