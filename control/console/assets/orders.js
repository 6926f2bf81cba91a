// Buttons of jobs: each asks first, and then tells the server.
"use strict";
const ask = document.getElementById("ask");
const said = document.getElementById("said");
let asked = null; // what the dialog is about
let forget = 0; // the timer by which what went well goes away

function tell(text, well) {
  clearTimeout(forget);
  said.textContent = text;
  said.className = well ? "note good" : "note";
  if (well) forget = setTimeout(() => tell("", false), 15000);
}

document.getElementById("moves").addEventListener("click", e => {
  const button = e.target.closest("button[data-order]");
  if (!button) return;
  asked = {...button.dataset, word: button.textContent};
  document.getElementById("ask-title").textContent = asked.word + ": " + asked.job;
  document.getElementById("ask-text").textContent = asked.ask;
  document.getElementById("ask-share").hidden = !asked.unit;
  document.getElementById("ask-percent").value = asked.value;
  document.getElementById("ask-unit").textContent = asked.unit || "";
  const yes = document.getElementById("ask-yes");
  yes.textContent = asked.word;
  yes.classList.toggle("grave", button.classList.contains("grave"));
  ask.returnValue = "";
  ask.showModal();
});

// Enter in the field of a percentage means yes, not the first button.
document.getElementById("ask-percent").addEventListener("keydown", e => {
  if (e.key === "Enter") { e.preventDefault(); ask.close("yes"); }
});

ask.addEventListener("close", async () => {
  const order = asked;
  asked = null;
  if (!order || ask.returnValue !== "yes") return;
  const body = new URLSearchParams();
  if (order.unit) body.set("percent", document.getElementById("ask-percent").value);
  try {
    const answer = await fetch(`jobs/${encodeURIComponent(order.job)}/${order.order}`, {method: "POST", body});
    const text = (await answer.text()).trim();
    tell(answer.ok ? text : "Refused: " + text, answer.ok);
  } catch {
    tell("The proxy doesn't answer: look in the journal whether it was told.", false);
  }
});
