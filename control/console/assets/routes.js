// The versions of the route map, each with the genes that changed hands.
import {html} from "./html.js";
import {take} from "./feed.js";
import {day, plural} from "./words.js";

export const needs = () => [["v1/routes", 5000]];

const version = (v, first) => html`<tr id="version-${v.version}"><th scope="row" class="number">${v.version}</th><td data-name="at" class="time">${day(v.at)}</td><td data-name="changed">${v.changes.length === 0 ? html`<span class="soft">${first ? "the first one" : "nothing changed hands"}</span>` : v.changes.map(c => html`<div>${plural(c.genes, "gene")} ${c.from} → ${c.to} <code>${c.gene_ranges}</code></div>`)}</td><td data-name="by">${v.by || "–"}</td><td data-name="why">${v.why || "–"}</td></tr>`;

export function draw() {
  const {value, trouble} = take("v1/routes");
  if (!value) return html`<section class="card"><h2>Route map</h2><p class="soft">${trouble || "Asking …"}</p></section>`;
  return html`<section class="card" id="routes" aria-labelledby="routes-title"><h2 id="routes-title">History of the route map</h2>${value.trouble ? html`<p class="note warn">Some versions can't be read: ${value.trouble}</p>` : ""}
${value.versions.length === 0 ? html`<p>There is no history yet: it begins with the first change.</p>` : html`<table class="stacked"><thead><tr><th scope="col" class="number">version</th><th scope="col">at</th><th scope="col">changed hands</th><th scope="col">by</th><th scope="col">why</th></tr></thead><tbody>${value.versions.map((v, i) => version(v, i === value.versions.length - 1))}</tbody></table>`}
<p class="soft">Versions under which genes were only held are left out. <code>locus routes diff</code> compares any two, <code>locus routes rollback</code> goes back to one.</p></section>`;
}
