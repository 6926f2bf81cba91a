// What statements have cost, by digest: the text first, sorted by what one wants to know.
import {html} from "./html.js";
import {take} from "./feed.js";
import {ago, count, digits, duration, ms, percent, plural} from "./words.js";

export const needs = () => [["v1/statements", 5000]];

// sorted is by which column, and filter what the texts must have.
export const sorted = {by: "under_way", filter: ""};

const share = s => s.count ? 100 * s.on_several_shards / s.count : 0;

// columns are what can be sorted by: the field, its head, and how it is written.
export const columns = [
  {by: "under_way", name: "under way", tip: "at once, on the average of the last minutes", write: s => digits(s.under_way)},
  {by: "per_second", name: "per second", tip: "of the last minutes", write: s => digits(s.per_second)},
  {by: "p50_ms", name: "p50", write: s => ms(s.p50_ms)},
  {by: "p99_ms", name: "p99", write: s => ms(s.p99_ms)},
  {by: "slowest_ms", name: "slowest", write: s => ms(s.slowest_ms)},
  {by: "count", name: "times", write: s => count(s.count)},
  {by: "errors", name: "errors", write: s => count(s.errors), mood: s => s.errors ? "bad" : ""},
  {by: "rows", name: "rows", write: s => count(s.rows)},
  {by: "total_ms", name: "all together", write: s => s.total_ms < 60000 ? ms(s.total_ms) : duration(s.total_ms / 1000)},
  {by: "on_several_shards", name: "on several shards", write: s => percent(share(s)), value: share, mood: s => share(s) > 0 ? "warn" : ""},
];

// arranged is the statements that are wanted, in the order that is.
export function arranged(statements, {by, filter}) {
  const column = columns.find(c => c.by === by) || columns[0];
  const value = column.value || (s => s[column.by]);
  const text = filter.trim().toLowerCase();
  return statements.filter(s => !text || (s.statement + " " + (s.database || "")).toLowerCase().includes(text))
    .sort((a, b) => value(b) - value(a) || b.total_ms - a.total_ms);
}

const row = (s, at) => html`<tr id="digest-${s.digest}-${s.database}"><th scope="row"><code>${s.statement}</code><br><span class="soft">${[s.database, s.kind, s.digest].filter(Boolean).join(" · ")}${s.last_seen ? " · last " + ago(s.last_seen, at) : ""}${s.last_error ? " · last error " + s.last_error : ""}${s.waited_ms > 1 ? " · waited " + ms(s.waited_ms) : ""}${s.held_ms > 1 ? " · held " + ms(s.held_ms) : ""}</span></th>
${columns.map(c => html`<td class="number ${c.mood ? c.mood(s) : ""}" data-name="${c.name}">${c.write(s)}</td>`)}</tr>`;

const head = c => html`<th scope="col" class="number" aria-sort="${c.by === sorted.by ? "descending" : "none"}"><button class="plain" data-sort="${c.by}" title="${c.tip || ""}">${c.name}${c.by === sorted.by ? " ▾" : ""}</button></th>`;

export function draw() {
  const {value, trouble} = take("v1/statements");
  if (!value) return html`<section class="card"><h2>Statements</h2><p class="soft">${trouble || "Asking the proxies …"}</p></section>`;
  const list = arranged(value.statements, sorted);
  return html`<section class="card" id="statements" aria-labelledby="statements-title"><div class="head"><h2 id="statements-title">Statements</h2><span class="soft">${plural(value.digests, "digest")} of ${plural(value.proxies, "proxy")}, of the last ${ago(value.since, value.at).replace(" ago", "")}${trouble ? " · not up to date: " + trouble : ""}</span>
<label class="push soft">with <input id="filter" data-filter value="" placeholder="a part of the text"></label>
<label class="soft narrow">by <select id="sort-by" data-sort-by>${columns.map(c => html`<option value="${c.by}">${c.name}</option>`)}</select></label></div>
${value.statements.length === 0 ? html`<p>No statement was seen yet. Point a client at a proxy: what it runs is counted here, without its values.</p>` : list.length === 0 ? html`<p>None of them has this in its text.</p>` : html`<table class="stacked statements"><thead><tr><th scope="col">statement</th>${columns.map(head)}</tr></thead><tbody>${list.map(s => row(s, value.at))}</tbody></table>`}
<p class="soft">The same is in <code>locus.statements</code>, and live in <code>locus top</code>. <code>TRUNCATE TABLE locus.statements</code> has all proxies begin anew.</p></section>`;
}
