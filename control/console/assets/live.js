// Follows the server's events.
"use strict";
const state = document.getElementById("state");

function say(text, away) {
  if (state.textContent !== text) state.textContent = text;
  state.classList.toggle("away", away);
}

const events = new EventSource("events");
events.addEventListener("update", e => {
  const u = JSON.parse(e.data);
  morph(document.getElementById("moves"), u.moves);
  morph(document.getElementById("fleet"), u.fleet);
  picture.take(u.picture);
  say("live", false);
});
events.addEventListener("trouble", e => say("not up to date: " + JSON.parse(e.data), true));
events.onerror = () => {
  say("not up to date: the proxy doesn't answer", true);
  if (events.readyState === EventSource.CLOSED) location.assign("login"); // the session has ended
};
