// The strip of health, and the page's title, which tells the worst.
import {html} from "./html.js";
import {ago, count, ms, plural, rate} from "./words.js";

const order = ["away", "frozen", "slow", "read-only", "unknown", "well"];

// verdict is what the title and the strip say first.
export function verdict(state) {
  if (state.well) return "all is well";
  return state.problems > 1 ? `${state.worst}, and ${plural(state.problems - 1, "more problem")}` : state.worst;
}

export const title = (state, away) => (away ? "? no answer" : state.well ? "✓ all is well" : "▲ " + state.worst) + " · " + state.cluster + " · locus";

// shardStates counts shards by how they are, the worst first.
export function shardStates(shards) {
  const by = {};
  for (const s of shards) by[s.state] = (by[s.state] || 0) + 1;
  return order.filter(state => by[state]).map(state => ({state, count: by[state]}));
}

const moods = {away: "bad", frozen: "bad", slow: "warn", "read-only": "bad", unknown: "warn", well: "good"};

const cell = (id, tab, name, value, mood) => html`<a class="cell ${mood}" id="cell-${id}" href="#${tab}"><span class="name">${name}</span> <span class="value">${value}</span></a>`;

const ill = list => list.filter(x => x.problem).length;

export function strip(state) {
  const shards = shardStates(state.shards);
  const proxies = ill(state.proxies), etcd = state.etcd || [], members = ill(etcd);
  return html`<p class="verdict ${state.well ? "good" : "bad"}" id="verdict"><span aria-hidden="true">${state.well ? "✓" : "▲"}</span> ${verdict(state)}</p>
<div class="cells">
${cell("shards", "overview", "shards", shards.length ? shards.map(s => `${s.count} ${s.state}`).join(", ") : "none", shards.length ? moods[shards[0].state] : "warn")}
${cell("proxies", "overview", "proxies", proxies ? `${proxies} of ${state.proxies.length} not well` : `${state.proxies.length} well`, proxies || !state.proxies.length ? "bad" : "good")}
${cell("etcd", "overview", "etcd", etcd.length === 0 ? "asking …" : members ? `${members} of ${etcd.length} not well` : `${etcd.length} well`, members ? "bad" : etcd.length ? "good" : "")}
${cell("doctor", "doctor", "doctor", !state.doctor.at ? "looking …" : state.doctor.problem ? "can't look" : plural(state.findings.length, "finding"), state.doctor.problem || state.findings.length ? "warn" : state.doctor.at ? "good" : "")}
${cell("rate", "overview", "statements", rate(state.statements.statements_per_second), "")}
${cell("p99", "overview", "p99", ms(state.statements.p99_ms), "")}
${cell("errors", "statements", "errors", rate(state.statements.errors_per_second), state.statements.errors_per_second > 0 ? "bad" : "good")}
${cell("sessions", "overview", "sessions", count(state.sessions), "")}
</div>`;
}

// since tells how old something is, if it is known.
export const since = (when, now) => when ? ago(when, now) : "";
