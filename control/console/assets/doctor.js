// All findings of the cluster, each with its severity, consequences and remedy.
import {html} from "./html.js";
import {ago, day, mood, plural} from "./words.js";

const words = {outage: "outage", "at-risk": "at risk", advice: "advice"};

const remedy = f => html`<br><span class="soft">Remedy:</span> <code>${f.remedy}</code>`;

const consequence = c => html`<li><b>${c.where}</b> <span class="soft">${c.check}</span> ${c.what}${remedy(c)}</li>`;

const consequences = f => (f.consequences || []).length ? html`<details open><summary>${plural(f.consequences.length, "consequence")}</summary><ul>${f.consequences.map(consequence)}</ul></details>` : "";

// known shows who has acknowledged a finding. An admin can acknowledge it or withdraw that. An outage can't be acknowledged.
const known = (f, admin) => f.acknowledged ? html`<br><span class="soft">Acknowledged by ${f.acknowledged.by} at ${day(f.acknowledged.at)}${f.acknowledged.until ? ", until " + day(f.acknowledged.until) : ""}: ${f.acknowledged.why}</span>${admin ? html` <button class="small" data-act="withdraw" data-of="${f.id}">Withdraw<span class="unseen"> the acknowledgement about ${f.where}</span></button>` : ""}`
  : f.severity === "outage" || !admin ? "" : html`<br><button class="small" data-act="acknowledge" data-of="${f.id}">Acknowledge …<span class="unseen"> ${f.where}</span></button>`;

export const finding = (f, admin) => html`<li class="${f.acknowledged ? "" : mood(f.severity)}" id="finding-${f.id}"><b>${f.where}</b> <span class="pill ${f.acknowledged ? "" : mood(f.severity)}">${words[f.severity]}</span> <span class="soft">${f.check}</span> ${f.what}${f.expect ? html`<br><b>${f.expect}</b>` : ""}${remedy(f)}${known(f, admin)}${consequences(f)}</li>`;

// draw takes the findings from the state, so that they are the same as in the strip.
export function draw(state) {
  const at = state.doctor.at, open = state.findings.filter(f => !f.acknowledged), known = state.findings.filter(f => f.acknowledged);
  return html`<section class="card" id="doctor" aria-labelledby="doctor-title"><div class="head"><h2 id="doctor-title">Findings</h2><span class="soft">${at ? "The slow checks ran " + ago(at, state.at) + ". They run each minute while this page is open." : "The slow checks are running: they query etcd, the proxies and every shard."}</span>${state.you.admin ? html`<button id="look-again" class="push" data-look>Check again</button>` : ""}</div>
${state.doctor.problem ? html`<p class="note warn">The slow checks can't run: ${state.doctor.problem}</p>` : ""}
${open.length ? html`<ul class="findings">${open.map(f => finding(f, state.you.admin))}</ul>` : at ? html`<p class="good">${known.length ? "No open findings." : "No findings."}</p>` : ""}
${known.length ? html`<details id="acknowledged"><summary>${plural(known.length, "acknowledged finding")}</summary><ul class="findings">${known.map(f => finding(f, state.you.admin))}</ul></details>` : ""}</section>`;
}
