// What doctor finds, each with its remedy.
import {html} from "./html.js";
import {take} from "./feed.js";
import {ago, plural} from "./words.js";

export const needs = () => [["v1/findings", 2000]];

const finding = f => html`<li><b>${f.where}</b> <span class="pill warn">${f.check}</span> ${f.what}<br><span class="soft">What helps:</span> <code>${f.remedy}</code></li>`;

export function draw(state) {
  const {value, trouble} = take("v1/findings");
  if (!value) return html`<section class="card"><h2>Doctor</h2><p class="soft">${trouble || "Asking …"}</p></section>`;
  return html`<section class="card" id="doctor" aria-labelledby="doctor-title"><div class="head"><h2 id="doctor-title">Doctor</h2><span class="soft">${value.at ? "looked " + ago(value.at, state.at) + ", and looks each minute while this page is open" : "is looking: it asks etcd, the proxies and every shard"}</span>${state.you.admin ? html`<button id="look-again" class="push" data-look>Look again</button>` : ""}</div>
${value.problem ? html`<p class="note">It can't look: ${value.problem}</p>` : !value.at ? "" : value.findings.length === 0 ? html`<p class="good">No findings. ${plural(value.etcd_endpoints, "etcd endpoint")}, ${plural(value.proxies, "proxy")} and ${plural(value.shards, "shard")} were checked.</p>` : html`<ul class="findings">${value.findings.map(finding)}</ul>`}</section>`;
}
