// The page: follows the server's events, and draws the part that is looked at.
import {html} from "./html.js";
import {morph} from "./morph.js";
import {ask, forget, send, take} from "./feed.js";
import {strip, title} from "./strip.js";
import {clock, count, lag, mood, ms, rate, worst} from "./words.js";
import {nearest} from "./curves.js";
import {chosen as span, historyPath, show} from "./span.js";
import * as overview from "./overview.js";
import * as moves from "./moves.js";
import * as genes from "./genes.js";
import * as picture from "./picture.js";
import * as statements from "./statements.js";
import * as statement from "./statement.js";
import * as tables from "./tables.js";
import * as users from "./users.js";
import * as routes from "./routes.js";
import * as timeline from "./timeline.js";
import * as sessions from "./sessions.js";
import * as generators from "./generators.js";
import * as doctor from "./doctor.js";
import * as begin from "./begin.js";
import * as actions from "./actions.js";
import {acts} from "./acts.js";

const parts = {overview, moves, map: genes, statements, sessions, tables, users, routes, generators, timeline, doctor};
const names = {overview: "Overview", moves: "Jobs", map: "Map", statements: "Statements", sessions: "Sessions", tables: "Tables", users: "Users", routes: "Routes", generators: "Generators", timeline: "Timeline", doctor: "Findings"};

// addressed are the parts whose filters are in the address.
const addressed = {timeline, sessions, statements, tables, moves};

const main = document.getElementById("main"), said = document.getElementById("state"), select = document.getElementById("proxy");
let state = null, away = "", proxy = "", events = null;

// now returns the part that the address names. Filters of a part may follow after a question mark.
function now() {
  const part = location.hash.slice(1).split("?")[0];
  return Object.hasOwn(parts, part) ? part : "overview";
}

function draw() {
  drawTabs();
  if (!state) return;
  morph(document.getElementById("strip"), strip(state));
  const map = now() === "map" && genes.answer();
  if (map) picture.take(map); // the legend tells what is drawn
  morph(main, parts[now()].draw(state, proxy));
  if (map) picture.draw();
  follow();
  drawProxies();
  document.getElementById("cluster").textContent = state.cluster;
  document.title = title(state, away);
  const icon = document.getElementById("icon"), href = "assets/" + (away || !state.well ? "favicon-bad.svg" : "favicon.svg");
  if (icon.getAttribute("href") !== href) icon.setAttribute("href", href);
  say();
}

function drawTabs() {
  const well = {moves: state && state.moves.length ? state.moves.length : "", doctor: state && state.outages + state.at_risk + state.advice || ""};
  const colour = {moves: state && mood(worst(state.moves)), doctor: state && mood(state.severity)};
  morph(document.getElementById("tabs"), html`${Object.keys(parts).map(part => html`<a id="tab-${part}" href="#${part}" ${part === now() ? html`aria-current="page"` : ""}>${names[part]}${well[part] ? html` <span class="badge ${colour[part] === "good" ? "" : colour[part]}">${well[part]}</span>` : ""}</a>`)}`);
}

// showTab scrolls to the tab of the part, since a phone shows a few of them.
const showTab = () => document.getElementById("tab-" + now()).scrollIntoView({block: "nearest", inline: "center"});

function drawProxies() {
  const ids = ["", ...state.proxies.map(p => p.id)];
  if (Array.from(select.options, o => o.value).join() === ids.join()) return;
  morph(select, html`${ids.map(id => html`<option value="${id}">${id || "the whole cluster"}</option>`)}`);
  select.value = proxy;
}

// follow has fields of forms be what they stand for, but for the one that is typed into.
function follow() {
  for (const e of document.querySelectorAll("[data-want]")) if (e !== document.activeElement && e.value !== begin.wanted[e.dataset.want]) e.value = begin.wanted[e.dataset.want];
  for (const [part, {chosen}] of Object.entries(addressed)) for (const e of document.querySelectorAll(`[data-${part}]`)) if (e !== document.activeElement && e.value !== chosen[e.dataset[part]]) e.value = chosen[e.dataset[part]];
}

function say() {
  const text = away ? "not up to date: " + away : "live, as of " + clock(state.at);
  if (said.textContent !== text) said.textContent = text;
  said.classList.toggle("away", !!away);
  document.body.classList.toggle("stale", !!away);
}

// refresh asks for what the part needs, and draws it.
function refresh() {
  if (document.hidden) return;
  for (const [path, every] of parts[now()].needs ? parts[now()].needs(proxy, state) : []) ask(path, every, draw);
}

function listen() {
  if (events) events.close();
  events = new EventSource("events" + (proxy ? "?proxy=" + encodeURIComponent(proxy) : ""));
  events.addEventListener("state", e => { state = JSON.parse(e.data); away = ""; refresh(); draw(); });
  events.addEventListener("gone", () => { actions.tell("The proxy " + proxy + " has gone: the page shows the whole cluster.", false); choose(""); });
  events.onerror = () => {
    away = "the proxy that serves this page doesn't answer";
    if (state) { document.title = title(state, away); say(); }
    if (events.readyState === EventSource.CLOSED) leave();
  };
}

// leave asks why the server has ended the events: the session may be over.
async function leave() {
  try {
    const answer = await fetch("v1/state");
    if (answer.status === 401) { location.assign("login"); return; }
    const reason = await refusal();
    if (reason) { away = reason; say(); }
  } catch { /* it is away */ }
  setTimeout(listen, 3000);
}

// refusal returns why the server opens no event stream, or "".
async function refusal() {
  const stop = new AbortController();
  try {
    const answer = await fetch("events", { signal: stop.signal });
    return answer.status === 429 ? (await answer.json()).error : "";
  } finally {
    stop.abort();
  }
}

function choose(id) {
  proxy = id;
  select.value = id;
  listen();
}

select.addEventListener("change", () => choose(select.value));

// The theme of the system is used until another one is chosen.
const theme = document.getElementById("theme"), root = document.documentElement;
theme.value = root.dataset.theme || "";
theme.addEventListener("change", () => {
  if (theme.value) { root.dataset.theme = theme.value; localStorage.setItem("locus-theme", theme.value); } else { delete root.dataset.theme; localStorage.removeItem("locus-theme"); }
  draw();
});
let place = now();
addEventListener("hashchange", () => { read(); refresh(); draw(); if (place !== now()) { scrollTo(0, 0); showTab(); } place = now(); });

// read takes the filters of the part from the address.
function read() { if (addressed[now()]) addressed[now()].read(location.hash); }

// zoom shows a part of the span in the charts.
function zoom(from, to) {
  show(from, to);
  for (const e of document.querySelectorAll("[data-range]")) e.value = "";
  draw();
}

document.addEventListener("visibilitychange", refresh);

document.addEventListener("click", async e => {
  const button = e.target.closest("button");
  if (!button) return;
  const {job, order, sort, split, from, after, kill, page, pageField, begin: step} = button.dataset;
  if (order) {
    const move = state.moves.find(m => m.id === job);
    if (move) actions.open(job, move.orders.find(o => o.procedure === order));
  } else if (button.dataset.act) {
    const {subject, order: request} = acts[button.dataset.act](state, button.dataset.of);
    actions.open(subject, request);
  } else if (kill) {
    const session = sessions.find(button.dataset.session);
    if (session) actions.open("session " + session.id, sessions.order(session, kill === "statement"));
  } else if (sort || page) {
    addressed[now()].choose(sort ? "by" : pageField, sort || page);
    location.hash = addressed[now()].address();
  } else if (button.hasAttribute("data-range-all")) {
    zoom(0, 0);
  } else if (button.hasAttribute("data-explain-go")) {
    const work = statement.explain(button.dataset.database);
    draw();
    await work;
    draw();
  } else if (after !== undefined) {
    timeline.choose("after", after);
    location.hash = timeline.address();
  } else if (split) {
    begin.propose(from, split, (state.shards.find(s => s.name !== from && s.genes_percent === 0) || {}).name);
    location.hash = "moves";
  } else if (step) {
    e.preventDefault();
    if (step === "take") { begin.take(button.dataset.index); draw(); document.getElementById("begin-preview").focus(); return; }
    const work = step === "preview" ? begin.preview() : step === "even" ? begin.propositions(button.dataset.by) : begin.begin();
    draw();
    const told = await work;
    if (told && step === "go") actions.tell(`${told.job} has begun: ${told.told}`, true);
    draw();
  } else if (button.hasAttribute("data-look")) {
    try { await send("v1/findings", {}); actions.tell("Doctor looks again.", true); } catch (error) { actions.tell(error.message, false); }
    forget("v1/findings");
  }
});
document.addEventListener("submit", e => { if (e.target.id === "begin-form") { e.preventDefault(); document.getElementById("begin-preview").click(); } });

const changed = e => {
  const {want, choose: what, range} = e.target.dataset, part = Object.keys(addressed).find(p => e.target.dataset[p]);
  if (part) {
    addressed[part].choose(e.target.dataset[part], e.target.value.trim());
    history.replaceState(null, "", addressed[part].address());
    refresh();
  } else if (range) {
    const minutes = name => Number(document.querySelector(`[data-range="${name}"]`).value), at = Date.parse(state.at);
    if (minutes("from")) show(at - 60000 * minutes("from"), at - 60000 * minutes("to")); else show(0, 0);
  } else if (e.target.hasAttribute("data-explain")) { statement.plan.text = e.target.value; return; }
  else if (want) begin.change(want, e.target.value);
  else if (what === "shard") span.shard = e.target.value;
  else if (e.target.name === "span") { span.span = e.target.value; show(0, 0); refresh(); }
  else if (e.target.name === "curve-scale") span.scale = e.target.value;
  else if (e.target.name === "statement-span") { statements.choose("span", e.target.value); history.replaceState(null, "", statements.address()); refresh(); }
  else if (e.target.name === "by") picture.chosen.by = e.target.value;
  else if (e.target.name === "scale") picture.chosen.scale = e.target.value;
  else return;
  draw();
};
document.addEventListener("change", changed);
document.addEventListener("input", e => { if (e.target.matches("input[data-want], input[data-statements], input[data-sessions], input[data-tables], [data-explain]")) changed(e); });
document.addEventListener("toggle", e => {
  const id = e.target.dataset && e.target.dataset.journal;
  if (!id || moves.unfolded.has(id) === e.target.open) return;
  if (e.target.open) moves.unfolded.add(id); else moves.unfolded.delete(id);
  refresh();
  draw();
}, true);

// timeAt is the time of a place in a chart.
function timeAt(chart, x) {
  const box = chart.getBoundingClientRect(), from = Number(chart.dataset.from), to = Number(chart.dataset.to);
  return from + Math.min(1, Math.max(0, (x - box.left) / box.width)) * (to - from);
}

// A part of the span is selected by dragging over a chart of the overview.
let dragged = null;
document.addEventListener("pointerdown", e => {
  const chart = now() === "overview" && e.pointerType === "mouse" && e.target.closest("svg[data-chart]");
  dragged = chart ? {chart, from: timeAt(chart, e.clientX)} : null;
});
document.addEventListener("pointerup", e => {
  if (!dragged) return;
  const {chart, from} = dragged, to = timeAt(chart, e.clientX);
  dragged = null;
  if (Math.abs(to - from) >= 10000) zoom(Math.min(from, to), Math.max(from, to));
});

// What a curve is at the time that is pointed at.
document.addEventListener("pointermove", e => {
  const chart = e.target.closest && e.target.closest("svg[data-chart]"), readout = document.getElementById("readout");
  const {value: history} = take(historyPath(proxy));
  if (!chart || !readout || !history) return;
  const i = nearest(history.at, timeAt(chart, e.clientX));
  const line = history.series.find(s => (s.shard || "") === span.shard);
  if (i < 0 || !line || line.statements_per_second[i] === null) return;
  readout.textContent = `${clock(history.at[i])}: ${rate(line.statements_per_second[i])}, p50 ${ms(line.p50_ms[i])}, p99 ${ms(line.p99_ms[i])}, ${rate(line.errors_per_second[i])} errors, ${count(line.connections_in_use[i])} connections, lag ${lag(line.lag_ms[i])}`;
});

read();
drawTabs();
showTab();
refresh();
listen();
