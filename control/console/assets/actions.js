// The dialog of all requests: it asks first, with the consequences, and then sends the request.
import {html} from "./html.js";
import {morph} from "./morph.js";
import {send} from "./feed.js";

const ask = document.getElementById("ask");
const said = document.getElementById("said");
let asked = null; // what the dialog is about
let forget = 0; // the timer by which what went well goes away

export function tell(text, well) {
  clearTimeout(forget);
  said.textContent = text;
  said.className = text === "" ? "" : well ? "note good" : "note";
  if (well && text) forget = setTimeout(() => tell("", false), 15000);
}

const field = a => html`<p class="field"><label for="ask-${a.name}">${a.label}</label> ${a.choices ?
  html`<select id="ask-${a.name}" data-argument="${a.name}">${a.choices.map(c => html`<option ${c === a.value ? html`selected` : ""}>${c}</option>`)}</select>` :
  a.text ? html`<input id="ask-${a.name}" data-argument="${a.name}" class="wide" maxlength="${a.most}" required value="${a.value}">` : html`<input id="ask-${a.name}" data-argument="${a.name}" type="number" min="${a.least}" max="${a.most}" step="any" inputmode="decimal" required value="${a.value}">`} <span class="soft">${a.unit || ""}</span></p>`;

// open asks about a command for a job, or for another subject. Such a command has the body of its request, and the text to show afterwards.
export function open(job, order) {
  asked = {job, order};
  document.getElementById("ask-title").textContent = order.word.replace(" …", "") + ": " + job;
  document.getElementById("ask-text").textContent = order.ask;
  const fields = document.getElementById("ask-fields");
  fields.textContent = ""; // what was typed for another order is not for this one
  morph(fields, html`${order.beside || ""}${(order.arguments || []).map(field)}`);
  const yes = document.getElementById("ask-yes");
  yes.textContent = order.word.replace(" …", "");
  yes.classList.toggle("grave", !!order.grave);
  ask.returnValue = "";
  ask.showModal();
}

// Enter in a field means yes, not the first button.
ask.addEventListener("keydown", e => {
  if (e.key === "Enter" && e.target.matches("input")) { e.preventDefault(); if (e.target.form.reportValidity()) ask.close("yes"); }
});

ask.addEventListener("close", async () => {
  if (ask.open) return; // it was closed, and has been opened again before this was told
  const now = asked;
  asked = null;
  if (!now || ask.returnValue !== "yes") return;
  const given = {};
  for (const e of ask.querySelectorAll("[data-argument]")) given[e.dataset.argument] = e.type === "number" ? e.valueAsNumber : e.value;
  const body = now.order.make ? now.order.make(given) : {...(now.order.body || {job: now.job}), ...given};
  try {
    const told = await send("v1/calls/" + now.order.procedure, body);
    tell(now.order.done ? now.order.done(told) : `${told.job}: ${told.told}`, true);
  } catch (e) {
    tell(e.message, false);
  }
});
