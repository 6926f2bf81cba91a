// The statements by digest: the list, which can be sorted, searched and filtered, and the choice of the one whose page is shown.
import {html} from "./html.js";
import {take} from "./feed.js";
import {cut, pager} from "./pager.js";
import {ago, count, digits, duration, ms, often, percent, plural} from "./words.js";
import * as statement from "./statement.js";

const first = {by: "under_way", show: "", text: "", page: "1", digest: "", database: "", span: "1h"};

// chosen selects the page. With a digest, that is the page of one statement.
export const chosen = {...first};

// read takes the choice from the address, such as #statements?show=failing&by=errors.
export function read(hash) {
  const given = new URLSearchParams(hash.split("?")[1] || "");
  for (const name of Object.keys(first)) chosen[name] = given.get(name) || first[name];
}

const addressOf = choice => "#statements" + (n => n.size ? "?" + n : "")(new URLSearchParams(Object.entries(choice).filter(([name, value]) => value !== first[name])));

export const address = () => addressOf(chosen);

// choose sets a part of the choice. Another list begins with its first page.
export function choose(name, value) {
  if (name !== "page") chosen.page = first.page;
  chosen[name] = value;
}

// pageOf is the address of a statement's page.
export const pageOf = s => addressOf({...first, digest: s.digest, database: s.database || "", span: chosen.span});

export const needs = proxy => chosen.digest ? statement.needs(chosen, proxy) : [["v1/statements", 5000]];

const share = s => s.count ? 100 * s.on_several_shards / s.count : 0;

// columns contains the columns by which the list can be sorted: the field, its head, and its format. total is the load of all statements.
export const columns = [
  {by: "under_way", name: "load", tip: "share of the time of all statements, over the last minutes", write: (s, total) => percent(100 * s.under_way / (total || 1))},
  {by: "per_second", name: "rate", tip: "over the last minutes", write: s => often(s.per_second)},
  {by: "p50_ms", name: "p50", write: s => ms(s.p50_ms)},
  {by: "p99_ms", name: "p99", write: s => ms(s.p99_ms)},
  {by: "slowest_ms", name: "slowest", write: s => ms(s.slowest_ms)},
  {by: "count", name: "times", write: s => count(s.count)},
  {by: "errors", name: "errors", write: s => count(s.errors), mood: s => s.errors ? "bad" : ""},
  {by: "rows", name: "rows each", tip: "returned or changed", write: s => digits(s.rows / Math.max(1, s.count)), value: s => s.rows / Math.max(1, s.count)},
  {by: "total_ms", name: "total", tip: "time of all of them since the start of the counters", write: s => s.total_ms < 60000 ? ms(s.total_ms) : duration(s.total_ms / 1000)},
  {by: "on_several_shards", name: "several shards", tip: "share of the statements that were sent to more than one shard", write: s => percent(share(s)), value: share, mood: s => share(s) > 0 ? "warn" : ""},
];

const day = 86400000, slow = 100;

// filters select statements. of is the answer, shards the number of shards.
export const filters = {
  "": {name: "all", keep: () => true},
  failing: {name: "failing", keep: s => s.errors > 0},
  slow: {name: `slow (p99 from ${slow} ms)`, keep: s => s.p99_ms >= slow},
  all: {name: "on all shards", keep: (s, of, shards) => s.on_several_shards > 0 && s.shards_reached >= shards - 0.01},
  several: {name: "on several shards", keep: s => s.on_several_shards > 0},
  gathers: {name: "gathered", keep: s => s.gathered > 0},
  new: {name: "new since yesterday", keep: (s, of) => Date.parse(s.first_seen) > Date.parse(of.at) - day},
};

const contains = (s, text) => !text || (s.statement + " " + (s.database || "") + " " + (s.digest || "")).toLowerCase().includes(text.trim().toLowerCase());

// arranged is the statements that are wanted, in the order that is.
export function arranged(of, {by, show, text}, shards) {
  const column = columns.find(c => c.by === by) || columns[0];
  const value = column.value || (s => s[column.by]);
  const filter = filters[show] || filters[""];
  return of.statements.filter(s => contains(s, text) && filter.keep(s, of, shards)).sort((a, b) => value(b) - value(a) || b.total_ms - a.total_ms);
}

const onPage = 25;

const row = (s, of, total) => html`<tr id="digest-${s.digest}-${s.database}"><th scope="row">${s.digest ? html`<a class="text" href="${pageOf(s)}"><code>${s.statement}</code></a>` : html`<code>${s.statement}</code>`}<br><span class="soft">${[s.database, s.kind].filter(Boolean).join(" · ")}${s.last_seen ? " · last " + ago(s.last_seen, of.at) : ""}${s.last_error ? " · last error " + s.last_error : ""}${s.gathered ? " · gathered" : ""}${s.waited_ms > 1 ? " · waited " + ms(s.waited_ms) : ""}${s.held_ms > 1 ? " · paused " + ms(s.held_ms) : ""}</span></th>
${columns.map(c => html`<td class="number ${c.mood ? c.mood(s) : ""}" data-name="${c.name}">${c.write(s, total)}</td>`)}</tr>`;

const head = c => html`<th scope="col" class="number" aria-sort="${c.by === chosen.by ? "descending" : "none"}"><button class="plain" data-sort="${c.by}" title="${c.tip || ""}">${c.name}${c.by === chosen.by ? " ▾" : ""}</button></th>`;

function table(of, shards) {
  const list = arranged(of, chosen, shards), page = cut(list, chosen.page, onPage);
  const total = of.statements.reduce((sum, s) => sum + s.under_way, 0);
  if (of.statements.length === 0) return html`<p>No statements yet. Connect a client to a proxy: its statements are counted here, without their values.</p>`;
  if (list.length === 0) return html`<p>No statement matches.</p>`;
  return html`<table class="stacked statements"><thead><tr><th scope="col">statement</th>${columns.map(head)}</tr></thead><tbody>${page.items.map(s => row(s, of, total))}</tbody></table>${pager("statements", page)}`;
}

const young = of => chosen.show === "new" && Date.parse(of.since) > Date.parse(of.at) - day ? html`<p class="note warn">The counters began ${ago(of.since, of.at)}, so statements may be older than they look.</p>` : "";

export function draw(state) {
  if (chosen.digest) return statement.draw(state, chosen, address);
  const {value, trouble} = take("v1/statements");
  if (!value) return html`<section class="card"><h2>Statements</h2><p class="soft">${trouble || "Asking the proxies …"}</p></section>`;
  const shards = state.shards.length;
  const counted = name => value.statements.filter(s => filters[name].keep(s, value, shards)).length;
  return html`<section class="card" id="statements" aria-labelledby="statements-title"><div class="head"><h2 id="statements-title">Statements</h2><span class="soft">${plural(value.digests, "digest")} of ${plural(value.proxies, "proxy")}, counted for ${ago(value.since, value.at).replace(" ago", "")}${trouble ? " · not up to date: " + trouble : ""}</span></div>
<div class="fields"><label>show <select id="statements-show" data-statements="show">${Object.entries(filters).map(([name, f]) => html`<option value="${name}">${f.name} (${counted(name)})</option>`)}</select></label>
<label>search <input id="filter" data-statements="text" value="" placeholder="text, database or digest"></label>
<label>sort by <select id="sort-by" data-statements="by">${columns.map(c => html`<option value="${c.by}">${c.name}</option>`)}</select></label></div>
${young(value)}${table(value, shards)}
<p class="soft">The same is in <code>locus.statements</code>, and live in <code>locus top</code>. <code>TRUNCATE TABLE locus.statements</code> resets the counters of all proxies.</p></section>`;
}
