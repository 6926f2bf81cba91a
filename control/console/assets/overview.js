// The first part: curves of the last quarter of an hour or hour, shards and proxies.
import {html} from "./html.js";
import {chart, marked} from "./chart.js";
import {take} from "./feed.js";
import {ago, count, day, lag, mood, ms, percent, plural, rate} from "./words.js";
import {brief} from "./moves.js";
import {chosen, historyPath, spans} from "./span.js";

export const needs = proxy => [[historyPath(proxy), 5000]];

const look = (state, shard) => "s" + Math.max(0, state.shards.findIndex(s => s.name === shard)) % 8;

const choice = (name, value, label, now) => html`<label><input type="radio" name="${name}" value="${value}" ${value === now ? html`checked` : ""}><span>${label}</span></label>`;

function curves(state, proxy) {
  const {value: history, trouble} = take(historyPath(proxy));
  if (!history) return html`<p class="soft">${trouble || "Asking for the last hour …"}</p>`;
  const one = history.series.find(s => (s.shard || "") === chosen.shard) || {};
  const line = (name, field, style) => ({name, look: style, values: one[field] || []});
  const each = field => history.series.filter(s => s.shard && (!chosen.shard || s.shard === chosen.shard)).map(s => ({name: s.shard, look: look(state, s.shard), values: s[field]}));
  const marks = history.marks, lags = each("lag_ms");
  const lagging = lags.some(l => l.values.some(v => v > 0));
  return html`<div class="charts">
${chart("rate", "Statements per second", history, [line("statements", "statements_per_second", "blue")], rate, {marks})}
${chart("latency", "Latency", history, [line("p50", "p50_ms", "teal"), line("p99", "p99_ms", "amber")], ms, {marks})}
${chart("p99s", "p99, by shard", history, each("p99_ms"), ms, {marks})}
${chart("errors", "Errors per second", history, [line("errors", "errors_per_second", "red")], rate, {marks})}
${chart("connections", "Connections in use, by shard", history, each("connections_in_use"), count, {marks})}
${chart("lag", "Lag of replicas and moves, by shard", history, lagging ? lags : [], lag, {marks, empty: "Nothing lags: no replica is behind, and no move is under way."})}
</div>${history.trouble ? html`<p class="note warn">${history.trouble}</p>` : ""}${marked(marks.filter(m => !chosen.to || m.at >= chosen.from && m.at <= chosen.to))}`;
}

// shardActs returns the requests of an admin for a shard with replicas. If the primary is down, the first one promotes a replica.
const shardActs = s => (s.replicas || []).length === 0 ? "" : html`<button class="small" data-act="switchover" data-of="${s.name}">Switch over …<span class="unseen"> ${s.name}</span></button>${s.severity === "outage" ? html` <button class="small grave" data-act="promote" data-of="${s.name}">Promote …<span class="unseen"> a server of ${s.name}</span></button>` : ""}`;

const shardRow = (s, state) => html`<tr id="shard-${s.name}"><th scope="row"><svg class="swatch" viewBox="0 0 8 8" aria-hidden="true"><rect class="${look(state, s.name)}" width="8" height="8"/></svg>${s.name}<span class="soft"> ${s.address}</span></th>
<td data-name="is">${s.problem ? html`<b class="${mood(s.severity)}">${s.state}</b>${s.since ? html` <span class="soft">${ago(s.since, state.at)}</span>` : ""}<br><span class="soft">${s.problem}</span>` : html`<span class="${mood(s.severity)}">${s.state}</span>${s.severity === "none" ? "" : html` <a class="soft" href="#doctor">findings</a>`}`}</td>
<td data-name="genes" class="number">${percent(s.genes_percent)}</td><td data-name="statements" class="number">${rate(s.statements_per_second)}</td>
<td data-name="p50" class="number">${ms(s.p50_ms)}</td><td data-name="p99" class="number">${ms(s.p99_ms)}</td><td data-name="errors" class="number ${s.errors_per_second > 0 ? "bad" : ""}">${rate(s.errors_per_second)}</td>
<td data-name="connections" class="number">${count(s.connections_in_use)} of ${count(s.connections_limit)}</td><td data-name="waiting" class="number ${s.waiting ? "warn" : ""}">${count(s.waiting)}</td>
<td data-name="replicas">${(s.replicas || []).length === 0 ? html`<span class="soft">none</span>` : s.replicas.map(r => html`<span class="${r.usable ? "" : "bad"}">${r.address} ${lag(r.lag_ms)}${r.usable ? "" : ", no reads"}</span> `)}${state.you.admin ? shardActs(s) : ""}</td></tr>`;

const proxyRow = (p, admin) => html`<tr><th scope="row">${p.id}</th><td data-name="is">${p.problem ? html`<b class="${mood(p.severity)}">${p.problem}</b>` : html`<span class="${mood(p.severity)}">${p.draining ? "draining" : "well"}</span>`}${admin && !p.draining ? html` <button class="small" data-act="drain" data-of="${p.id}">Drain …<span class="unseen"> ${p.id}</span></button>` : ""}</td><td data-name="clients come to">${p.address}</td>
<td data-name="sessions" class="number">${count(p.sessions)}</td><td data-name="statements" class="number">${rate(p.statements_per_second)}</td><td data-name="p99" class="number">${ms(p.p99_ms)}</td>
<td data-name="map" class="number">${p.map_version}</td><td data-name="build">${p.build}</td><td data-name="since" class="time">${day(p.started)}</td></tr>`;

export function draw(state, proxy) {
  return html`<section class="card" id="curves" aria-labelledby="curves-title"><div class="head"><h2 id="curves-title">Figures</h2>
<label class="soft">of <select id="of-shard" data-choose="shard"><option value="">all shards</option>${state.shards.map(s => html`<option>${s.name}</option>`)}</select></label>
<label class="soft">from <input id="range-from" data-range="from" type="number" min="1" max="1440" step="1" inputmode="numeric" placeholder="all"> to <input id="range-to" data-range="to" type="number" min="0" max="1439" step="1" inputmode="numeric" placeholder="0"> min ago</label>${chosen.to ? html`<button id="range-all" data-range-all>Whole span</button>` : ""}
<fieldset class="switch"><legend class="unseen">scale</legend>${choice("curve-scale", "linear", "linear", chosen.scale)}${choice("curve-scale", "logarithmic", "log", chosen.scale)}</fieldset>
<fieldset class="switch"><legend class="unseen">span</legend>${Object.entries(spans).map(([value, name]) => choice("span", value, name, chosen.span))}</fieldset></div>
<p id="readout" class="soft" data-own>Point at a curve to read it. Drag over a curve to select a part.</p>${curves(state, proxy)}</section>
${brief(state)}
<section class="card" id="shards" aria-labelledby="shards-title"><h2 id="shards-title">Shards</h2>${state.shards.length === 0 ? html`<p>No shard is declared. Write them into cluster.yaml and run <code>locus apply -f cluster.yaml</code>.</p>` : html`<table class="stacked">
<thead><tr><th scope="col">shard</th><th scope="col">is</th><th scope="col" class="number">genes</th><th scope="col" class="number">statements</th><th scope="col" class="number">p50</th><th scope="col" class="number">p99</th><th scope="col" class="number">errors</th><th scope="col" class="number">connections</th><th scope="col" class="number">waiting</th><th scope="col">replicas</th></tr></thead><tbody>${state.shards.map(s => shardRow(s, state))}</tbody></table>`}</section>
<section class="card" id="proxies" aria-labelledby="proxies-title"><h2 id="proxies-title">Proxies</h2>${state.proxies.length === 0 ? html`<p>No proxy lives. Start one with <code>locus serve -c locus.yaml</code>.</p>` : html`<table class="stacked">
<thead><tr><th scope="col">proxy</th><th scope="col">is</th><th scope="col">clients come to</th><th scope="col" class="number">sessions</th><th scope="col" class="number">statements</th><th scope="col" class="number">p99</th><th scope="col" class="number">map</th><th scope="col">build</th><th scope="col">since</th></tr></thead><tbody>${state.proxies.map(p => proxyRow(p, state.you.admin))}</tbody></table>`}
<p class="soft">Version <b id="map-version">${state.map_version}</b> of the map is in force. ${state.holding ? html`<b class="warn">${plural(state.holding, "statement")} paused now</b>, until their genes are handed over.` : "No statement is paused."} <span id="silent">${(state.silent || []).length ? "No answer from " + state.silent.join(", ") + "." : ""}</span></p></section>`;
}
