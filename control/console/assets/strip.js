// The strip of health, and the page's title, which tells the worst.
import {html} from "./html.js";
import {ago, count, mood, ms, plural, rate, worst} from "./words.js";

const order = ["away", "frozen", "slow", "read-only", "unknown", "well"];

// verdict is what the title and the strip say first.
export function verdict(state) {
  if (state.well) return state.advice > 0 ? "healthy, with " + advised(state.advice) : "healthy";
  return state.problems > 1 ? `${state.worst}, and ${plural(state.problems - 1, "more problem")}` : state.worst;
}

const advised = n => n === 1 ? "1 piece of advice" : count(n) + " pieces of advice";

// found counts the open findings by severity.
export function found(state) {
  const parts = [[state.outages, plural(state.outages, "outage")], [state.at_risk, plural(state.at_risk, "risk")], [state.advice, count(state.advice) + " advice"], [state.acknowledged, count(state.acknowledged) + " acknowledged"]];
  return parts.filter(([n]) => n).map(([, text]) => text).join(", ") || "none";
}

export const title = (state, away) => (away ? "? no answer" : state.well ? "✓ healthy" : "▲ " + state.worst) + " · " + state.cluster + " · locus";

// shardStates counts shards by how they are, the worst first.
export function shardStates(shards) {
  const by = {};
  for (const s of shards) by[s.state] = (by[s.state] || 0) + 1;
  return order.filter(state => by[state]).map(state => ({state, count: by[state]}));
}

const cell = (id, tab, name, value, colour) => html`<a class="cell ${colour}" id="cell-${id}" href="#${tab}"><span class="name">${name}</span> <span class="value">${value}</span></a>`;

const ill = list => list.filter(x => x.severity === "outage" || x.severity === "at-risk").length;

export function strip(state) {
  const shards = shardStates(state.shards);
  const proxies = ill(state.proxies), etcd = state.etcd || [], members = ill(etcd);
  return html`<p class="verdict ${mood(state.severity)}" id="verdict"><span aria-hidden="true">${state.well ? "✓" : "▲"}</span> ${verdict(state)}</p>
<div class="cells">
${cell("shards", "overview", "shards", shards.length ? shards.map(s => `${s.count} ${s.state}`).join(", ") : "none", shards.length ? mood(worst(state.shards)) : "")}
${cell("proxies", "overview", "proxies", proxies ? `${proxies} of ${state.proxies.length} not well` : `${state.proxies.length} well`, state.proxies.length ? mood(worst(state.proxies)) : "bad")}
${cell("etcd", "overview", "etcd", etcd.length === 0 ? "asking …" : members ? `${members} of ${etcd.length} not well` : `${etcd.length} well`, etcd.length ? mood(worst(etcd)) : "")}
${cell("doctor", "doctor", "findings", state.findings.length || state.doctor.at ? found(state) : state.doctor.problem ? "can't look" : "looking …", state.severity !== "none" || state.doctor.at ? mood(state.severity) : state.doctor.problem ? "warn" : "")}
${cell("rate", "overview", "statements", rate(state.statements.statements_per_second), "")}
${cell("p99", "overview", "p99", ms(state.statements.p99_ms), "")}
${cell("errors", "statements", "errors", rate(state.statements.errors_per_second), state.statements.errors_per_second > 0 ? "bad" : "good")}
${cell("sessions", "overview", "sessions", count(state.sessions), "")}
</div>`;
}

// since tells how old something is, if it is known.
export const since = (when, now) => when ? ago(when, now) : "";
