// The page of one statement: what it costs, where, over time, who sends it, and its plan.
import {html} from "./html.js";
import {chart, marked} from "./chart.js";
import {send, take} from "./feed.js";
import {ago, count, digits, duration, ms, often, percent} from "./words.js";

const spans = {"1h": "1 h", "24h": "24 h"};

const path = ({digest, database, span}) => `v1/statements/${encodeURIComponent(digest)}?` + new URLSearchParams({database, span});
const marksPath = ({span}) => "v1/history?span=" + span;

export const needs = chosen => [[path(chosen), 5000], [marksPath(chosen), 10000]];

// plan contains the values of the form and the answer to them. It belongs to one digest.
export const plan = {digest: "", text: "", answer: null, trouble: "", busy: false};

// explain asks for the plan of the statement with its values.
export async function explain(database) {
  Object.assign(plan, {busy: true, trouble: "", answer: null});
  try {
    plan.answer = await send("v1/calls/explain", {database, statement: plan.text});
  } catch (e) {
    plan.trouble = e.message;
  }
  plan.busy = false;
}

// codes are the names of the errors that are seen most.
const codes = {1040: "too many connections", 1048: "a column can't be NULL", 1054: "no such column", 1062: "duplicate key", 1064: "syntax", 1105: "refused by the proxy", 1142: "no permission", 1146: "no such table", 1205: "lock wait timeout", 1213: "deadlock", 1264: "out of range", 1292: "wrong value", 1317: "interrupted", 1364: "no default", 1406: "data too long", 1452: "foreign key", 1969: "maximum time exceeded", 2013: "connection lost", 3024: "maximum time exceeded"};

const names = {"(none)": "answered by the proxy", "(several)": "on several shards at once", "(others)": "all others"};

const figure = (name, value, mood) => html`<div><dt>${name}</dt><dd class="${mood || ""}">${value}</dd></div>`;

function figures(s, shards) {
  const per = n => n / Math.max(1, s.count), several = 100 * per(s.on_several_shards);
  return html`<dl class="figures">${figure("rate now", often(s.per_second))}${figure("running at once", digits(s.under_way))}${figure("p50", ms(s.p50_ms))}${figure("p99", ms(s.p99_ms))}${figure("slowest", ms(s.slowest_ms))}
${figure("times", count(s.count))}${figure("errors", s.errors ? `${count(s.errors)} (${percent(100 * per(s.errors))})` : "0", s.errors ? "bad" : "")}${figure("rows each", digits(per(s.rows)))}${figure("total time", s.total_ms < 60000 ? ms(s.total_ms) : duration(s.total_ms / 1000))}
${s.on_several_shards ? figure("on several shards", `${percent(several)}, ${digits(s.shards_reached)} of ${shards}`, "warn") : ""}${s.gathered ? html`${figure("gathered", percent(100 * per(s.gathered)), "warn")}${figure("rows gathered", `${digits(s.rows_gathered / s.gathered)} each, ${percent(100 * s.rows_by_key / Math.max(1, s.rows_gathered))} by key`)}` : ""}
${s.waited_ms > 1 ? figure("waited for connections", ms(per(s.waited_ms)) + " each") : ""}${s.held_ms > 1 ? figure("paused by jobs", ms(s.held_ms)) : ""}</dl>`;
}

const parts = (id, title, head, list, total) => html`<div id="${id}"><h3>${title}</h3>${list.length === 0 ? html`<p class="soft">None.</p>` : html`<table class="stacked"><thead><tr><th scope="col">${head}</th><th scope="col" class="number">times</th><th scope="col" class="number">share</th><th scope="col" class="number">average</th><th scope="col" class="number">errors</th></tr></thead><tbody>${list.map(p => html`<tr><th scope="row">${names[p.name] || p.name || "no user"}</th><td class="number" data-name="times">${count(p.count)}</td><td class="number" data-name="share">${percent(100 * p.count / Math.max(1, total))}</td><td class="number" data-name="average">${ms(p.average_ms)}</td><td class="number ${p.errors ? "bad" : ""}" data-name="errors">${count(p.errors)}</td></tr>`)}</tbody></table>`}</div>`;

const errors = list => html`<div id="by-error"><h3>Errors</h3>${list.length === 0 ? html`<p class="soft">None.</p>` : html`<table class="stacked"><thead><tr><th scope="col">error</th><th scope="col" class="number">times</th></tr></thead><tbody>${list.map(e => html`<tr><th scope="row">${e.code}${codes[e.code] ? html` <span class="soft">${codes[e.code]}</span>` : ""}</th><td class="number" data-name="times">${count(e.count)}</td></tr>`)}</tbody></table>`}</div>`;

const look = (state, shard) => { const i = state.shards.findIndex(s => s.name === shard); return i < 0 ? "grey" : "s" + i % 8; };

function curves(a, state, chosen) {
  const history = {from: a.from, to: a.to, step_seconds: a.step_seconds, at: a.times}, marks = (take(marksPath(chosen)).value || {}).marks || [];
  const each = field => a.shards.map(s => ({name: names[s.shard] || s.shard, look: look(state, s.shard), values: s[field]}));
  if (!a.recorded) return html`<p class="soft">The proxies record the past of the 200 statements with the highest load. This one is not among them yet.</p>`;
  const options = {marks, part: {}, since: Date.parse(a.statement.first_seen) - 1000 * a.step_seconds, empty: `No figures yet: they come each ${a.step_seconds > 60 ? "quarter of an hour" : "minute"}.`};
  return html`<div class="charts">
${chart("digest-latency", "Latency", history, [{name: "p50", look: "teal", values: a.p50_ms}, {name: "p99", look: "amber", values: a.p99_ms}], ms, options)}
${chart("digest-p50", "p50, by shard", history, each("p50_ms"), ms, options)}
${chart("digest-p99", "p99, by shard", history, each("p99_ms"), ms, options)}
${chart("digest-rate", "Rate, by shard", history, each("statements_per_second"), often, options)}
${chart("digest-errors", "Errors", history, [{name: "errors", look: "red", values: a.errors_per_second}], often, options)}</div>${marked(marks)}`;
}

const server = s => html`<h3>${s.shard}</h3>${s.problem ? html`<p class="note warn">${s.problem}</p>` : html`<div class="scroll" tabindex="0" role="region" aria-label="plan of ${s.shard}"><table><thead><tr>${(s.columns || []).map(c => html`<th scope="col">${c}</th>`)}</tr></thead><tbody>${(s.rows || []).map(r => html`<tr>${r.map(v => html`<td>${v || "–"}</td>`)}</tr>`)}</tbody></table></div>`}`;

const planned = a => html`<div id="plan-answer"><h3>Route</h3><dl class="route">${a.route.map(l => html`<dt>${l.part}</dt><dd><code>${l.detail}</code></dd>`)}</dl>${a.shards.map(server)}</div>`;

export function explaining(s, admin) {
  if (!admin) return html`<section class="card" id="explain"><h2>Plan</h2><p>An admin can see the plan of each shard here. Users of MySQL get it by <code>EXPLAIN</code> at any proxy.</p></section>`;
  if (plan.digest !== s.digest) Object.assign(plan, {digest: s.digest, text: s.statement, answer: null, trouble: ""});
  return html`<section class="card" id="explain" aria-labelledby="explain-title"><h2 id="explain-title">Plan</h2>
<label class="soft" for="explain-text-${s.digest}">The statement with its values. The proxies keep no values, so write one in the place of each <code>?</code>. It is explained and does not run.</label>
<textarea id="explain-text-${s.digest}" data-explain rows="4" spellcheck="false">${plan.text}</textarea>
<p class="buttons"><button id="explain-go" data-explain-go data-database="${s.database || ""}" ${plan.busy ? html`disabled` : ""}>${plan.busy ? "Asking the shards …" : "Explain"}</button></p>
${plan.trouble ? html`<p class="note" role="alert">${plan.trouble}</p>` : ""}${plan.answer ? planned(plan.answer) : ""}</section>`;
}

const choice = (value, label, now) => html`<label><input type="radio" name="statement-span" value="${value}" ${value === now ? html`checked` : ""}><span>${label}</span></label>`;

export function draw(state, chosen) {
  const {value: a, trouble} = take(path(chosen));
  if (!a) return html`<section class="card" id="statement"><p><a href="#statements">All statements</a></p><p class="soft">${trouble || "Asking the proxies …"}</p></section>`;
  const s = a.statement;
  return html`<section class="card" id="statement" aria-labelledby="statement-title"><p class="soft"><a href="#statements">All statements</a> · ${[s.database, s.kind, s.digest].filter(Boolean).join(" · ")} · first seen ${ago(s.first_seen, a.at)}, last ${ago(s.last_seen, a.at)}${trouble ? " · not up to date: " + trouble : ""}</p>
<h2 id="statement-title" class="unseen">Statement ${s.digest}</h2><pre class="sql"><code>${s.statement}</code></pre>
${a.silent ? html`<p class="note warn">No answer from ${a.silent.join(", ")}.</p>` : ""}
${figures(s, state.shards.length)}
<p class="soft">${(s.tables || []).length ? html`Tables: ${s.tables.map((t, i) => html`${i ? ", " : ""}<a href="#tables?table=${encodeURIComponent(t.includes(".") ? t : s.database + "." + t)}">${t}</a>`)} · ` : ""}<a href="#sessions?running=1&amp;filter=${encodeURIComponent(s.statement.slice(0, 60))}">Sessions that run it now</a></p></section>
<section class="card" id="statement-past" aria-labelledby="statement-past-title"><div class="head"><h2 id="statement-past-title">Over time</h2><fieldset class="switch"><legend class="unseen">span</legend>${Object.entries(spans).map(([value, name]) => choice(value, name, chosen.span))}</fieldset></div>${curves(a, state, chosen)}</section>
<section class="card three">${parts("by-shard", "Shards", "shard", a.by_shard, s.count)}${parts("by-user", "Users", "user", a.by_user, s.count)}${errors(a.by_error)}</section>
${explaining(s, state.you.admin)}`;
}
