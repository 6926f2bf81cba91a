// Declared generators, and how each stands in the proxies that have used it.
import {html} from "./html.js";
import {take} from "./feed.js";
import {count, percent} from "./words.js";

export const needs = () => [["v1/generators", 5000]];

const well = ["well", "closed"];

const left = p => Object.entries(p.left || {}).map(([field, share]) => html`<span class="${share < 0.1 ? "bad" : ""}">${percent(100 * share)} of its ${field}</span> `);

const states = p => [...(p.members || []).map(m => html`<span class="${well.includes(m.state) ? "" : "bad"}">${m.name} ${m.state}${m.error ? ": " + m.error : ""}</span> `),
  ...Object.entries(p.breakers || {}).map(([before, by]) => html`${before}: ${Object.entries(by).map(([state, n]) => html`<span class="${well.includes(state) ? "" : "bad"}">${count(n)} ${state}</span> `)}`)];

const row = (g, p, i) => html`<tr><th scope="row">${i === 0 ? html`${g.name} <span class="soft">${g.kind}${(g.of || []).length ? " of " + g.of.join(", ") : ""}</span>` : ""}</th>${p ? html`<td data-name="in">${p.proxy}</td><td data-name="left">${left(p)}</td><td data-name="segments" class="number">${count(p.loads)}${p.failed ? html` <b class="bad">${count(p.failed)} failed</b>` : ""}</td><td data-name="waits" class="number">${count(p.waits)}</td><td data-name="members and servers">${states(p)}</td>` : html`<td colspan="5" class="soft">not used yet</td>`}</tr>`;

export function draw() {
  const {value, trouble} = take("v1/generators");
  if (!value) return html`<section class="card"><h2>Generators</h2><p class="soft">${trouble || "Asking the proxies …"}</p></section>`;
  return html`<section class="card" id="generators" aria-labelledby="generators-title"><h2 id="generators-title">Generators</h2>
${value.generators.length === 0 ? html`<p>None is declared: stamped columns have theirs without. For numbers by <code>NEXT VALUE FOR</code> or over HTTP, declare some under <code>generators:</code> in cluster.yaml.</p>` : html`<table class="stacked"><thead><tr><th scope="col">generator</th><th scope="col">in</th><th scope="col">left</th><th scope="col" class="number">segments</th><th scope="col" class="number">waits</th><th scope="col">members and servers</th></tr></thead><tbody>${value.generators.map(g => g.proxies.length ? g.proxies.map((p, i) => row(g, p, i)) : row(g, null, 0))}</tbody></table>`}
${(value.silent || []).length ? html`<p class="note warn">No answer from ${value.silent.join(", ")}.</p>` : ""}</section>`;
}
