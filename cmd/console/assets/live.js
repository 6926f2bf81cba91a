// Replaces the parts of the page as the server sends them. Parts that did not
// change are left alone, so that open details, focus and selections stay.
"use strict";
const state = document.getElementById("state");
const main = document.getElementById("live");
const taken = new WeakMap(); // what each part was last given

function say(text, away) {
  if (state.textContent !== text) state.textContent = text;
  state.classList.toggle("away", away);
}

function take(html) {
  const next = document.createElement("div");
  next.innerHTML = html;
  const wanted = new Set();
  let before = null;
  for (const part of Array.from(next.children)) {
    wanted.add(part.id);
    const there = document.getElementById(part.id);
    if (!there) {
      main.insertBefore(part, before ? before.nextSibling : main.firstChild);
      before = part;
      continue;
    }
    if (taken.get(there) !== part.innerHTML) {
      const html = part.innerHTML;
      const open = new Map(Array.from(there.querySelectorAll("details[id]"), d => [d.id, d.open]));
      const tops = new Map(Array.from(there.querySelectorAll(".scroll[id]"), d => [d.id, d.scrollTop]));
      const focus = there.contains(document.activeElement) ? document.activeElement.id : "";
      there.innerHTML = html;
      taken.set(there, html);
      for (const [id, is] of open) { const d = document.getElementById(id); if (d) d.open = is; }
      for (const [id, top] of tops) { const d = document.getElementById(id); if (d) d.scrollTop = top; }
      if (focus) { const f = document.getElementById(focus); if (f) f.focus({preventScroll: true}); }
    }
    if (before ? before.nextSibling !== there : main.firstChild !== there) main.insertBefore(there, before ? before.nextSibling : main.firstChild);
    before = there;
  }
  for (const part of Array.from(main.children)) if (!wanted.has(part.id)) part.remove();
}

const events = new EventSource("jobs/events");
events.addEventListener("jobs", e => { take(JSON.parse(e.data)); say("live", false); });
events.addEventListener("trouble", e => say("not up to date: " + JSON.parse(e.data), true));
events.onerror = () => say("not up to date: the proxy doesn't answer", true);
