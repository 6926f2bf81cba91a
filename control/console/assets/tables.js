// The declared tables, and their columns as the shards have them.
import {html} from "./html.js";
import {take} from "./feed.js";
import {plural} from "./words.js";

export const needs = () => [["v1/tables", 10000]];

// routed says by what a table's rows are found.
export function routed(t) {
  if (t.kind === "sharded") return t.owner ? "rows live by " + t.owner : t.parent ? `rows live with their parent's, by ${t.parent}` : "sharded";
  if (t.kind === "global") return "the same rows on every shard";
  return "on shard " + (t.shard || "?") + " alone";
}

const fact = (name, value) => value ? html`<div><dt>${name}</dt><dd>${value}</dd></div>` : "";

const table = t => html`<details class="table" id="table-${t.database}-${t.name}"><summary><b>${t.database}.${t.name}</b> <span class="pill">${t.kind}</span> <span class="soft">${routed(t)}${t.columns.length ? " · " + plural(t.columns.length, "column") : ""}</span>${t.problem ? html` <b class="bad">can't be served</b>` : ""}</summary>
${t.problem ? html`<p class="note">${t.problem}</p>` : ""}
<dl class="figures">${fact("owner", t.owner)}${fact("parent's ID", t.parent)}${fact("ID", t.id && `${t.id} (${t.id_layout})`)}${fact("order number", t.order_number)}${fact("gene", t.gene)}${fact("version", t.version)}${fact("shard", t.shard)}</dl>
${t.columns.length === 0 ? html`<p class="soft">Its columns are not known: the shards have no such table, or were not asked yet.</p>` : html`<table class="stacked"><thead><tr><th scope="col">column</th><th scope="col">type</th><th scope="col">NULL</th><th scope="col">to the proxy</th></tr></thead><tbody>${t.columns.map(c => html`<tr><th scope="row"><code>${c.name}</code></th><td data-name="type">${c.type}</td><td data-name="NULL">${c.nullable ? "yes" : "no"}</td><td data-name="to the proxy">${(c.is || []).join(", ") || html`<span class="soft">a value</span>`}</td></tr>`)}</tbody></table>`}</details>`;

export function draw() {
  const {value, trouble} = take("v1/tables");
  if (!value) return html`<section class="card"><h2>Tables</h2><p class="soft">${trouble || "Asking …"}</p></section>`;
  return html`<section class="card" id="tables" aria-labelledby="tables-title"><h2 id="tables-title">Tables</h2>
${value.tables.length === 0 ? html`<p>No table is declared: all of them are on shard ${value.default_shard}. Declare those that are to be sharded in cluster.yaml, and run <code>locus apply -f cluster.yaml</code>.</p>` : value.tables.map(table)}
<p class="soft">Tables that nobody has declared are on shard <b>${value.default_shard}</b>. Genes have ${value.gene_bits} bits, by ${value.hash}.</p></section>`;
}
