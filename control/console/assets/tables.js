// The tables: a list with their sizes, and the page of one with its declaration, its rows by shard, its statements and its columns.
import {html} from "./html.js";
import {take} from "./feed.js";
import {cut, pager} from "./pager.js";
import {arranged, pageOf} from "./statements.js";
import {bytes, count, digits, ms, often, percent, plural} from "./words.js";

const first = {text: "", show: "", by: "bytes", page: "1", table: ""};

// chosen selects the page. With a table, that is the page of one table.
export const chosen = {...first};

export function read(hash) {
  const given = new URLSearchParams(hash.split("?")[1] || "");
  for (const name of Object.keys(first)) chosen[name] = given.get(name) || first[name];
}

const addressOf = choice => "#tables" + (n => n.size ? "?" + n : "")(new URLSearchParams(Object.entries(choice).filter(([name, value]) => value !== first[name])));

export const address = () => addressOf(chosen);

export function choose(name, value) {
  if (name !== "page") chosen.page = first.page;
  chosen[name] = value;
}

export const needs = () => [["v1/tables", 10000], ["v1/tables/sizes", 60000], ["v1/statements", 10000]];

// routed says by what a table's rows are found.
export function routed(t) {
  if (t.kind === "sharded") return t.owner ? "placed by " + t.owner : t.parent ? `placed with their parent, by ${t.parent}` : "sharded";
  if (t.kind === "global") return "the same on every shard";
  return "on shard " + (t.shard || "?") + " alone";
}

const nameOf = t => t.database + "." + t.name;

// namedBy returns the whole names of the tables that a statement names, in lower case.
const namedBy = s => (s.tables || []).map(n => (n.includes(".") ? n : (s.database || "") + "." + n).toLowerCase());

// joined returns all tables: those that are declared, with their sizes, and the others that the shards have.
export function joined(declared, sizes, statements) {
  const by = new Map(sizes.map(s => [nameOf(s), s])), none = {rows: 0, bytes: 0, skew: 0, shards: []};
  const all = declared.map(t => ({...none, ...by.get(nameOf(t)), ...t, declared: true}));
  const others = sizes.filter(s => !s.declared).map(s => ({...s, kind: "undeclared", columns: []}));
  const load = new Map();
  for (const s of statements) for (const name of namedBy(s)) load.set(name, (load.get(name) || 0) + s.under_way);
  return [...all, ...others].map(t => ({...t, load: load.get(nameOf(t).toLowerCase()) || 0}));
}

// remembered is joined, computed again only if one of the answers is another one.
let last = {of: [], all: []};
const nothing = [];
function remembered(...of) {
  if (of.some((list, i) => list !== last.of[i])) last = {of, all: joined(...of)};
  return last.all;
}

const sorts = {bytes: {name: "size", value: t => t.bytes}, rows: {name: "rows", value: t => t.rows}, skew: {name: "skew", value: t => t.skew}, load: {name: "load", value: t => t.load}};
const kinds = ["sharded", "global", "single", "undeclared"];

export function selected(all, {text, show, by}) {
  const value = (sorts[by] || sorts.bytes).value;
  const part = text.toLowerCase();
  return all.filter(t => (!show || t.kind === show) && nameOf(t).toLowerCase().includes(part)).sort((a, b) => value(b) - value(a) || (nameOf(a) < nameOf(b) ? -1 : 1));
}

const onPage = 50;

const uneven = t => t.skew > 1.5 && t.rows > 1000;

const row = (t, total) => html`<tr id="table-${t.database}-${t.name}"><th scope="row"><a href="${addressOf({...first, table: nameOf(t)})}">${nameOf(t)}</a>${t.problem ? html` <b class="bad">can't be served</b>` : ""}</th><td data-name="kind"><span class="pill ${t.kind === "undeclared" ? "warn" : ""}">${t.kind}</span></td><td data-name="" class="soft">${t.kind === "undeclared" ? "on " + t.shards.map(s => s.shard).join(", ") : routed(t)}</td>
<td class="number" data-name="rows">${count(t.rows)}</td><td class="number" data-name="size">${bytes(t.bytes)}</td><td class="number ${uneven(t) ? "warn" : ""}" data-name="skew">${t.skew ? digits(t.skew) : "–"}</td><td class="number" data-name="load">${percent(100 * t.load / (total || 1))}</td></tr>`;

const head = ([by, s]) => html`<th scope="col" class="number" aria-sort="${by === chosen.by ? "descending" : "none"}"><button class="plain" data-sort="${by}">${s.name}${by === chosen.by ? " ▾" : ""}</button></th>`;

const fact = (name, value) => value ? html`<div><dt>${name}</dt><dd>${value}</dd></div>` : "";

const bar = (label, share) => html`<div role="progressbar" aria-label="${label}" aria-valuenow="${Math.round(share)}" aria-valuemin="0" aria-valuemax="100"><svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="blue" width="${share}" height="8"/></svg></div>`;

const shards = t => t.shards.length === 0 ? "" : html`<h3>Rows by shard, as the servers estimate them</h3><div class="bars">${t.shards.map(s => html`<span>${s.shard}</span>${bar("rows on " + s.shard, 100 * s.rows / Math.max(1, ...t.shards.map(x => x.rows)))}<span class="value">${count(s.rows)}</span><span class="text soft">${bytes(s.bytes)}</span>`)}</div>`;

const statement = s => html`<tr><th scope="row"><a class="text" href="${pageOf(s)}"><code>${s.statement}</code></a></th><td class="number" data-name="rate">${often(s.per_second)}</td><td class="number" data-name="p99">${ms(s.p99_ms)}</td><td class="number ${s.errors ? "bad" : ""}" data-name="errors">${count(s.errors)}</td></tr>`;

function statementsOf(t, of) {
  const list = arranged({...of, statements: of.statements.filter(s => namedBy(s).includes(nameOf(t).toLowerCase()))}, {by: "under_way", show: "", text: ""}, 0);
  return html`<section class="card" id="table-statements"><h2>Statements</h2>${list.length === 0 ? html`<p class="soft">No statement on it is among those that the proxies list.</p>` : html`<table class="stacked"><thead><tr><th scope="col">statement</th><th scope="col" class="number">rate</th><th scope="col" class="number">p99</th><th scope="col" class="number">errors</th></tr></thead><tbody>${list.slice(0, 20).map(statement)}</tbody></table>`}</section>`;
}

const columns = t => html`<section class="card" id="table-columns"><h2>Columns</h2>${t.columns.length === 0 ? html`<p class="soft">Its columns are not known: ${t.declared ? "the shards have no such table, or were not asked yet." : "the proxies read only those of declared tables."}</p>` : html`<table class="stacked"><thead><tr><th scope="col">column</th><th scope="col">type</th><th scope="col">NULL</th><th scope="col">used by the proxy as</th></tr></thead><tbody>${t.columns.map(c => html`<tr><th scope="row"><code>${c.name}</code></th><td data-name="type">${c.type}</td><td data-name="NULL">${c.nullable ? "yes" : "no"}</td><td data-name="used as">${(c.is || []).join(", ") || "–"}</td></tr>`)}</tbody></table>`}</section>`;

const declaring = (t, admin) => t.declared ? html`<h3>Declaration</h3><pre class="sql"><code>${t.declaration}</code></pre>` : html`<p class="note warn">Nobody has declared this table, so its statements go to the default shard.</p>${admin ? html`<p class="buttons"><button class="go" data-act="declare" data-of="${nameOf(t)}">Declare …</button><button data-act="importTable" data-of="${nameOf(t)}">Import …</button></p><p class="soft"><code>locus advise</code> proposes declarations for a whole schema.</p>` : ""}`;

function whole(t, of, admin) {
  return html`<section class="card" id="table" aria-labelledby="table-title"><p class="soft"><a href="#tables">All tables</a></p><div class="head"><h2 id="table-title">${nameOf(t)}</h2><span class="pill ${t.kind === "undeclared" ? "warn" : ""}">${t.kind}</span>${t.kind === "undeclared" ? "" : html`<span class="soft">${routed(t)}</span>`}</div>
${t.problem ? html`<p class="note">${t.problem}</p>` : ""}
<dl class="figures">${fact("rows", count(t.rows))}${fact("size", bytes(t.bytes))}${t.skew ? fact("skew", digits(t.skew)) : ""}${fact("owner", t.owner)}${fact("parent's ID", t.parent)}${fact("ID", t.id && `${t.id} (${t.id_layout})`)}${fact("order number", t.order_number)}${fact("gene", t.gene)}${fact("version", t.version)}${fact("shard", t.shard)}</dl>
${shards(t)}${declaring(t, admin)}</section>${statementsOf(t, of)}${columns(t)}`;
}

const choice = (name, label, options) => html`<label>${label} <select id="tables-${name}" data-tables="${name}">${options.map(([value, text]) => html`<option value="${value}">${text}</option>`)}</select></label>`;

export function draw(state) {
  const {value, trouble} = take("v1/tables"), {value: sizes, trouble: unsized} = take("v1/tables/sizes"), of = take("v1/statements").value || {statements: nothing, at: state.at};
  if (!value) return html`<section class="card"><h2>Tables</h2><p class="soft">${trouble || "Asking …"}</p></section>`;
  const all = remembered(value.tables, sizes ? sizes.tables : nothing, of.statements);
  const one = chosen.table && all.find(t => nameOf(t) === chosen.table);
  if (one) return whole(one, of, state.you.admin);
  const list = selected(all, chosen), page = cut(list, chosen.page, onPage);
  const total = of.statements.reduce((sum, s) => sum + s.under_way, 0);
  return html`<section class="card" id="tables" aria-labelledby="tables-title"><div class="head"><h2 id="tables-title">Tables</h2><span class="soft">${plural(value.tables.length, "declared table")}${sizes ? `, ${count(all.length - value.tables.length)} undeclared` : ", asking the shards for their sizes …"}</span></div>
${chosen.table ? html`<p class="note warn">There is no table ${chosen.table}.</p>` : ""}${unsized ? html`<p class="note warn">${unsized}</p>` : ""}${sizes ? sizes.trouble.map(t => html`<p class="note warn">No sizes: ${t}</p>`) : ""}
${value.tables.length === 0 ? html`<p>No table is declared: all of them are on shard ${value.default_shard}. Declare those that are to be sharded in cluster.yaml, and run <code>locus apply -f cluster.yaml</code>.</p>` : ""}
<div class="fields">${choice("show", "show", [["", `all (${count(all.length)})`], ...kinds.map(k => [k, `${k} (${count(all.filter(t => t.kind === k).length)})`])])}<label>search <input id="tables-text" data-tables="text" value="" placeholder="a part of the name"></label>${choice("by", "sort by", Object.entries(sorts).map(([by, s]) => [by, s.name]))}</div>
${list.length === 0 ? html`<p>No table matches.</p>` : html`<table class="stacked"><thead><tr><th scope="col">table</th><th scope="col">kind</th><th scope="col">rows are</th>${[["rows", sorts.rows], ["bytes", sorts.bytes], ["skew", sorts.skew], ["load", sorts.load]].map(head)}</tr></thead><tbody>${page.items.map(t => row(t, total))}</tbody></table>${pager("tables", page)}`}
${sizes && sizes.left ? html`<p class="soft">${count(sizes.left)} smaller tables have no size here.</p>` : ""}
<p class="soft">Undeclared tables are on shard <b>${value.default_shard}</b>. Genes have ${value.gene_bits} bits, by ${value.hash}. Skew is the rows of the largest shard in relation to the average. Load is the share of the time of all statements.</p></section>`;
}
