// The map: which shard has which genes, what they have to bear, and the ten hottest.
import {html} from "./html.js";
import {take} from "./feed.js";
import {chosen, counts, hex, highest} from "./picture.js";
import {count, digits, percent, plural} from "./words.js";

const path = "v1/genes?weigh=1";
export const needs = () => [[path, 3000]];
export const answer = () => take(path).value;

const choice = (name, value, now) => html`<label><input type="radio" name="${name}" value="${value}" ${value === now ? html`checked` : ""}><span>${value}</span></label>`;

const swatch = i => html`<svg class="swatch" viewBox="0 0 8 8" aria-hidden="true"><rect class="s${i % 8}" width="8" height="8"/></svg>`;

function legend(genes) {
  if (chosen.by === "shard") { const n = counts(); return genes.map.shards.map((name, i) => html`<li>${swatch(i)}${name} <span class="soft">${plural(n[i] || 0, "gene")}</span></li>`); }
  const trouble = genes.trouble.find(t => t.startsWith(chosen.by));
  const unit = chosen.by === "load" ? "statements/s" : "rows, as the servers estimate them for each shard";
  return html`<li><span class="ramp"></span>0 to ${digits(highest())} ${unit}, ${chosen.scale}</li>${trouble ? html`<li class="bad">${trouble}</li>` : ""}`;
}

// blocks are the runs of genes that a shard has, each as wide as it is.
function blocks(genes) {
  let first = 0;
  const list = genes.map.owners.map(([last, shard]) => { const b = {first, last, shard}; first = last + 1; return b; });
  const of = 1000 / genes.map.cells;
  const shown = list.slice(0, 64);
  return html`<h3>Blocks</h3><svg class="blocks" viewBox="0 0 1000 20" preserveAspectRatio="none" role="img" aria-label="${plural(list.length, "block")} of genes">${list.map(b => html`<rect class="s${b.shard % 8}" x="${(b.first * of).toFixed(2)}" width="${((b.last - b.first + 1) * of).toFixed(2)}" height="20"/>`)}</svg>
<details id="blocks"><summary>${plural(list.length, "block")}</summary><table><thead><tr><th scope="col">genes</th><th scope="col" class="number">how many</th><th scope="col">shard</th></tr></thead><tbody>${shown.map(b => html`<tr><td><code>${hex(b.first)}–${hex(b.last, true)}</code></td><td class="number">${count((b.last - b.first + 1) * Math.pow(2, genes.map.bits) / genes.map.cells)}</td><td>${swatch(b.shard)}${genes.map.shards[b.shard]}</td></tr>`)}</tbody></table>${list.length > 64 ? html`<p class="soft">and ${count(list.length - 64)} more: <code>locus routes show</code></p>` : ""}</details>`;
}

const hot = (g, admin) => html`<tr><th scope="row"><code>${g.gene}</code></th><td data-name="shard">${g.shard}</td><td data-name="statements" class="number">${digits(g.statements_per_second)}/s</td><td data-name="share" class="number">${percent(g.share_percent)}</td><td data-name="">${g.moving ? html`<a href="#moves">${g.moving} moves it</a>` : admin ? html`<button class="plain" data-split="${g.gene}" data-from="${g.shard}" >split this<span class="unseen"> gene ${g.gene}</span></button>` : ""}</td></tr>`;

export function draw(state) {
  const genes = answer();
  if (!genes) return html`<section class="card"><h2>Map</h2><p class="soft">${take(path).trouble || "Asking the proxies and the shards …"}</p></section>`;
  return html`<div class="columns"><section class="card" id="genes" aria-labelledby="genes-title"><div class="head"><h2 id="genes-title">Genes</h2>
<fieldset class="switch"><legend class="unseen">coloured by</legend>${["shard", "load", "rows"].map(v => choice("by", v, chosen.by))}</fieldset>
${chosen.by === "shard" ? "" : html`<fieldset class="switch" id="scales"><legend class="unseen">scale</legend>${["logarithmic", "linear"].map(v => choice("scale", v, chosen.scale))}</fieldset>`}</div>
<canvas id="picture" data-own width="256" height="256" tabindex="0" role="img" aria-label="genes by shard" aria-describedby="cell"></canvas>
<p id="cell" data-own class="soft" role="status">Point at a cell, or focus the picture and use the arrow keys.</p>
<ul class="legend" id="legend">${legend(genes)}${genes.map.moving.length ? html`<li class="soft">striped: on the move (${genes.map.jobs.join(", ")})</li>` : ""}</ul></section>
<div><section class="card" id="hottest" aria-labelledby="hottest-title"><h2 id="hottest-title">The ten hottest genes</h2>${genes.hottest.length === 0 ? html`<p>No statement with a key was counted in the last minutes.</p>` : html`<table class="stacked"><thead><tr><th scope="col">gene</th><th scope="col">shard</th><th scope="col" class="number">statements</th><th scope="col" class="number">share</th><td></td></tr></thead><tbody>${genes.hottest.map(g => hot(g, state.you.admin))}</tbody></table>`}<p class="soft">Of the last minutes, as all proxies have counted. <code>locus hot --owners</code> asks the shards whose rows they have.</p></section>
<section class="card">${blocks(genes)}</section></div></div>`;
}
