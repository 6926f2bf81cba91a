// Beginning a move: what it is to be, what it would be, and then the order.
import {html} from "./html.js";
import {count, digits, percent, plural} from "./words.js";
import {get, send} from "./feed.js";

// wanted is what the form holds; plan what the server has answered to it.
export const wanted = {kind: "half", from: "", to: "", genes: "", why: ""};
let plan = null, trouble = "", busy = false;
// even is what the server proposes to make shards even.
let even = null;

const procedure = () => wanted.kind === "merge" ? "merge" : "split";
// body has the fields of the request.
const body = () => wanted.kind === "merge" ? {from: wanted.from, into: wanted.to, why: wanted.why} : {from: wanted.from, to: wanted.to, genes: wanted.kind === "half" ? "half" : wanted.genes, by: wanted.kind === "sequence" ? "sequence" : "gene", why: wanted.why};

// propose fills the form in, for a gene that is hot.
export function propose(from, genes, to) {
  Object.assign(wanted, {kind: "genes", from, genes, to: wanted.to && wanted.to !== from ? wanted.to : to || ""});
  plan = null; trouble = "";
}

// change notes what was typed or chosen: a plan is of what it was made for.
export function change(field, value) { wanted[field] = value; plan = null; trouble = ""; }

async function during(work) {
  busy = true; trouble = "";
  try { return await work(); } catch (e) { trouble = e.message; return null; } finally { busy = false; }
}

export const preview = () => during(async () => { plan = await send("v1/previews/" + procedure(), body()); });

export const begin = () => during(async () => {
  const told = await send("v1/calls/" + procedure(), body());
  plan = null;
  return told;
});

export const propositions = by => during(async () => { even = null; even = await get("v1/proposals?by=" + by); });

// take fills the form in by a move that is proposed.
export function take(i) {
  const {from, to, gene_ranges: genes} = even.moves[i];
  Object.assign(wanted, {kind: "genes", from, to, genes, why: wanted.why || "make the shards even by " + even.by});
  plan = null; trouble = "";
}

const weighed = n => digits(n) + (even.by === "load" ? " statements/s" : " rows");

const evened = () => even && html`<div id="even">${even.moves.length === 0 ? html`<p class="good">No shard has more than ${percent(even.tolerance_percent)} above an equal part by ${even.by}: there is nothing to move.</p>` : html`<p>By ${even.by}: ${even.shards.map((s, i) => html`${i ? ", " : ""}<b>${s.name}</b> ${weighed(s.weight)}, then ${weighed(s.weight_after)}`)}.</p><ul>${even.moves.map((m, i) => html`<li>${plural(m.genes, "gene")} with ${weighed(m.weight)}, ${m.from} → ${m.to} <button class="plain" data-begin="take" data-index="${i}">use this<span class="unseen"> move of ${m.from} to ${m.to}</span></button></li>`)}</ul>`}</div>`;

const option = (value, label, now) => html`<option value="${value}" ${value === now ? html`selected` : ""}>${label}</option>`;

const shown = () => plan && html`<div class="plan" id="plan"><p><b>${plan.job}</b> would move <b>${plural(plan.genes, "gene")}</b>, ${percent(plan.share_percent)} of ${plan.from}'s, to ${plan.to}: <code>${plan.gene_ranges}</code>. They have ${digits(plan.statements_per_second)} statements/s now. Their rows are copied and compared while ${plan.from} goes on serving them; nothing changes hands before you cut over.</p>
${plan.unasked ? html`<p class="note warn">Whether something stands in its way is not known: ${plan.unasked}</p>` : plan.problems.length === 0 ? html`<p class="good">Nothing stands in its way.</p>` : html`<p class="note">${plural(plan.problems.length, "thing")} in its way:</p><ul>${plan.problems.map(p => html`<li><b>${p.check}</b>: ${p.what}. <span class="soft">${p.remedy}</span></li>`)}</ul>`}
${plan.problems.length ? "" : html`<button class="go" id="begin-go" data-begin="go">Start ${plan.job}</button>`}</div>`;

export function beginning(state) {
  const names = state.shards.map(s => s.name);
  if (names.length < 2) return html`<section class="card" id="begin"><h2>Start a job</h2><p>It takes two shards. Add one to cluster.yaml and run <code>locus apply -f cluster.yaml</code>.</p></section>`;
  wanted.from = names.includes(wanted.from) ? wanted.from : (state.shards.find(s => s.genes_percent > 0) || state.shards[0]).name;
  wanted.to = names.includes(wanted.to) && wanted.to !== wanted.from ? wanted.to : (state.shards.find(s => s.genes_percent === 0) || state.shards.find(s => s.name !== wanted.from)).name;
  return html`<section class="card" id="begin" aria-labelledby="begin-title"><h2 id="begin-title">Start a job</h2><form id="begin-form"><div class="fields">
<label>what <select data-want="kind" id="begin-kind">${option("half", "the upper half of its genes", wanted.kind)}${option("genes", "some of its genes", wanted.kind)}${option("sequence", "a few genes, by sequence", wanted.kind)}${option("merge", "all of its genes (merge)", wanted.kind)}</select></label>
<label>from <select data-want="from" id="begin-from">${state.shards.map(s => option(s.name, `${s.name} (${percent(s.genes_percent)})`, wanted.from))}</select></label>
<label>to <select data-want="to" id="begin-to">${state.shards.map(s => option(s.name, `${s.name} (${percent(s.genes_percent)})`, wanted.to))}</select></label>
${wanted.kind === "genes" || wanted.kind === "sequence" ? html`<label>genes <input data-want="genes" id="begin-genes" value="${wanted.genes}" placeholder="0x2000-0x3fff,0x5000" required></label>` : ""}
<label>why <input data-want="why" id="begin-why" value="${wanted.why}" placeholder="for its journal"></label>
<button id="begin-preview" data-begin="preview" ${busy ? html`disabled` : ""}>${busy ? "asking both shards …" : "Preview"}</button></div></form>
${trouble ? html`<p class="note" role="alert">${trouble}</p>` : ""}${shown() || ""}<p class="even">Or have moves proposed that make ${count(names.length)} shards even: <button class="plain" id="even-load" data-begin="even" data-by="load">by load</button> · <button class="plain" id="even-rows" data-begin="even" data-by="rows">by rows</button></p>${evened() || ""}</section>`;
}
