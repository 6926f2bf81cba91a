// Moves: each with its stages, one bar, its curves, and what may be ordered.
import {html} from "./html.js";
import {chart} from "./chart.js";
import {take} from "./feed.js";
import {cut, pager} from "./pager.js";
import {historyPath} from "./span.js";
import {beginning} from "./begin.js";
import {clock, count, day, duration, lag, ms, percent, plural, rank, rate} from "./words.js";

// chosen is the page of the jobs that run, and of those that are over.
const first = {page: "1", past: "1"};
export const chosen = {...first};

export function read(hash) {
  const given = new URLSearchParams(hash.split("?")[1] || "");
  for (const name of Object.keys(first)) chosen[name] = given.get(name) || first[name];
}

export const choose = (name, value) => { chosen[name] = value; };

export const address = () => "#moves" + (n => n.size ? "?" + n : "")(new URLSearchParams(Object.entries(chosen).filter(([name, value]) => value !== first[name])));

const onPage = 6, pastOnPage = 25, inBrief = 10;

// running is the page of the jobs that run. If there are several pages, the first ones have the jobs that need attention.
export const running = state => cut(state.moves.length > onPage ? state.moves.toSorted((a, b) => rank(b) - rank(a)) : state.moves, chosen.page, onPage);

export const needs = (proxy, state) => [["v1/moves", 5000], [historyPath(proxy), 5000], ...(state ? running(state).items : []).filter(m => m.phase === "failed").map(m => [differencesPath(m.id), 5000]), ...[...unfolded].map(id => [journalPath(id), 60000])];

// unfolded are the finished moves whose journals are read.
export const unfolded = new Set();
const differencesPath = id => "v1/moves/" + encodeURIComponent(id) + "/differences";

const found = m => m.phase === "failed" && differencesOf(m.id);

const side = (text, owner, newer) => html`${text ? html`<code>${text}</code>` : html`<b class="bad">no such row</b>`}${owner ? html` <span class="pill">clients see it</span>` : ""}${newer ? html` <span class="pill good">newer</span>` : ""}`;

// takes are the sides whose row an admin can take, as the buttons of a row.
const takes = (m, list, r) => !(m.orders || []).some(o => o.procedure === "repair") ? "" : html`<td data-name="">${["source", "target"].map(take => html`<button id="take-${m.id}-${r.row}-${take}" class="small" data-act="takeRow" data-of="${[m.id, r.row, take].join(" ")}">Take ${list[take]}'s …<span class="unseen"> row ${r.row}</span></button> `)}</td>`;

// takeRow is the request to make one row equal, with the row of a side.
export function takeRow(m, list, number, take) {
  const r = list.rows.find(x => x.row === Number(number)), lost = take === "source" ? "target" : "source";
  const deed = !r[take] ? `${list[take]} has no such row, so the row at ${list[lost]} is deleted` : r[lost] ? `The row at ${list[lost]} is replaced by the one of ${list[take]}` : `The row of ${list[take]} is inserted at ${list[lost]}`;
  const kept = r[lost] ? ` The row that is lost stays in locus.move_repair of ${list[lost]}.` : "";
  return {subject: `row ${r.row} of ${m.id}`, order: {
    word: `Take ${list[take]}'s row`, procedure: "repair", grave: true, body: {job: m.id, take, rows: String(r.row)},
    ask: `${deed}.${r.owner === lost ? ` Clients see the row of ${list[lost]} now.` : ""}${r.newer === lost ? ` The row of ${list[lost]} has the newer version.` : ""}${kept} If the row has changed since it was listed, nothing is done, and it is listed again.`,
    beside: html`<dl class="rows"><dt>${r.table} ${r.key} at ${list.source}</dt><dd>${side(r.source, r.owner === "source", r.newer === "source")}</dd><dt>at ${list.target}</dt><dd>${side(r.target, r.owner === "target", r.newer === "target")}</dd></dl>`,
  }};
}

// differencesOf returns the known rows that differ of a job.
export const differencesOf = id => take(differencesPath(id)).value;

// differing shows the rows that differ, each as both shards have it.
export const differing = (m, list) => !list || list.rows.length === 0 ? "" : html`<section id="differs-${m.id}" class="plan"><h3>${list.rows.length === 1 && !list.beyond ? "1 row differs" : `${count(list.rows.length + list.beyond)} rows differ`}</h3><table class="stacked"><thead><tr><th scope="col">row</th><th scope="col">at ${list.source}</th><th scope="col">at ${list.target}</th><th scope="col">differs in</th>${takes(m, list, {row: 0}) ? html`<th scope="col"><span class="unseen">repair</span></th>` : ""}</tr></thead><tbody>${list.rows.map(r => html`<tr><th scope="row">${r.row} <span class="soft">${r.table} ${r.key}</span></th><td data-name="at ${list.source}">${side(r.source, r.owner === "source", r.newer === "source")}</td><td data-name="at ${list.target}">${side(r.target, r.owner === "target", r.newer === "target")}</td><td data-name="differs in">${r.columns.join(", ") || "–"}${r.left ? html`<br><span class="warn">${r.left}</span>` : ""}</td>${takes(m, list, r)}</tr>`)}</tbody></table>${list.beyond ? html`<p class="soft">About ${count(list.beyond)} more are not listed.</p>` : ""}</section>`;

const journalPath = id => "v1/moves/" + encodeURIComponent(id);

const moods = {failed: "bad", paused: "warn", "rolling-back": "warn", repairing: "warn", aborting: "warn", aborted: "warn", ready: "good", cut: "good", done: "good"};

// stageNow is the stage that a move is in.
export const stageNow = move => move.stages.find(s => s.state !== "done" && s.state !== "ahead") || move.stages[move.stages.length - 1];

// progress is the one bar of a move: of the stage that it is in.
export function progress(move) {
  const estimate = Math.max(move.rows_estimate, move.rows_copied);
  switch (stageNow(move).name) {
    case "copy": return {percent: move.copied_percent, goal: 0, text: `${count(move.rows_copied)} of about ${plural(estimate, "row")} copied`};
    case "catch up": return {percent: move.copied_percent, goal: 0, text: `applying what has changed meanwhile, lag ${lag(move.lag_ms)}`};
    case "verify": return {percent: move.verified_percent, goal: 0, text: `${plural(move.rows_verified, "row")} compared on both shards`};
    case "retire": return move.phase === "retiring" ? {percent: 100 * move.rows_deleted / Math.max(1, estimate), goal: 0, text: `${plural(move.rows_deleted, "row")} deleted on ${move.from}`} : {percent: move.percent, goal: move.wanted_percent, text: `of its genes at ${move.to}; ${move.from} keeps its rows until the move is finished`};
  }
  const rolls = move.wanted_percent !== move.percent ? `, on the way to ${percent(move.wanted_percent)}` : "";
  return {percent: move.percent, goal: move.wanted_percent, text: `of its genes at ${move.to}${rolls}`};
}

const says = {done: "done", now: "under way", waits: "waits for a command", paused: "paused", back: "going back", failed: "failed", ahead: "to come"};

const stepper = move => html`<ol class="steps" aria-label="stages of ${move.id}">${move.stages.map(s => html`<li class="${s.state}" ${s.state !== "done" && s.state !== "ahead" ? html`aria-current="step"` : ""}><span class="stage">${s.name}</span><span class="soft">${says[s.state]}</span></li>`)}</ol>`;

const bar = (label, at, goal, look) => html`<div role="progressbar" aria-label="${label}" aria-valuenow="${Math.round(at)}" aria-valuemin="0" aria-valuemax="100"><svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">${goal > at ? html`<rect class="${look} goal" width="${goal}" height="8"/>` : ""}<rect class="${look}" width="${at}" height="8"/></svg></div>`;

const figure = (name, value, mood) => html`<div><dt>${name}</dt><dd class="${mood || ""}">${value}</dd></div>`;

function figures(m) {
  const copies = m.rows_per_second > 0, back = m.reversible;
  return html`<dl class="figures">${m.seconds_left ? figure("time left", "about " + duration(m.seconds_left)) : ""}${m.next_step_seconds >= 0 ? figure("next step in", duration(m.next_step_seconds)) : ""}
${copies ? figure("rows", rate(m.rows_per_second)) : ""}${m.changes_per_second ? figure("changes applied", rate(m.changes_per_second)) : ""}
${figure("lag to " + m.to, lag(m.lag_ms), m.lag_ms >= 5000 ? "bad" : m.lag_ms >= 1000 ? "warn" : "")}${back ? figure("lag back to " + m.from, lag(m.back_lag_ms), m.back_lag_ms >= 5000 ? "bad" : m.back_lag_ms >= 1000 ? "warn" : "") : ""}
${figure("conflicts", count(m.conflicts), m.conflicts ? "warn" : "")}${m.last_hold_ms ? figure("last step paused", ms(m.last_hold_ms), m.last_hold_ms >= 1000 ? "bad" : m.last_hold_ms >= 100 ? "warn" : "") : ""}
${m.throttle_percent ? figure("rests", percent(m.throttle_percent) + " of the time") : ""}</dl>`;
}

const failedShare = f => 100 * f.failed / Math.max(1, f.statements);

const fares = m => m.before.statements + m.since.statements === 0 ? "" : html`<table class="fares" id="fares-${m.id}"><caption>Statements on its genes</caption><thead><tr><td></td><th scope="col" class="number">before</th><th scope="col" class="number">since the last step</th></tr></thead><tbody>
<tr><th scope="row">counted</th><td class="number">${count(m.before.statements)}</td><td class="number">${count(m.since.statements)}</td></tr><tr><th scope="row">failed</th><td class="number">${percent(failedShare(m.before))}</td><td class="number ${failedShare(m.since) > failedShare(m.before) + 0.1 ? "bad" : ""}">${percent(failedShare(m.since))}</td></tr>
<tr><th scope="row">p99</th><td class="number">${ms(m.before.p99_ms)}</td><td class="number ${m.since.p99_ms > 2 * m.before.p99_ms + 20 ? "warn" : ""}">${ms(m.since.p99_ms)}</td></tr></tbody></table>`;

const outcomes = [["looking", "looked at again"], ["unsettled", "unsettled"], ["reordered", "in another order"], ["dropped", "dropped"], ["too_long", "too long"], ["unsent", "not sent"], ["late", "without an answer in time"], ["failed", "failed"]];

// mirrored is how the target answers copies of reads, beside the source.
export function mirrored(m) {
  const r = m.mirror;
  if (!r) return "";
  const others = outcomes.filter(([name]) => r[name]).map(([name, words]) => `, ${count(r[name])} ${words}`).join("");
  const slower = r.target_p99_ms > 2 * r.source_p99_ms + 20;
  return html`<table class="fares" id="mirror-${m.id}"><caption>Mirrored reads: ${percent(r.percent)}</caption><thead><tr><td></td><th scope="col" class="number">${m.from}</th><th scope="col" class="number">${m.to}</th></tr></thead><tbody>
<tr><th scope="row">p50</th><td class="number">${ms(r.source_p50_ms)}</td><td class="number">${ms(r.target_p50_ms)}</td></tr><tr><th scope="row">p99</th><td class="number">${ms(r.source_p99_ms)}</td><td class="number ${slower ? "warn" : ""}">${ms(r.target_p99_ms)}</td></tr></tbody></table>
<p class="soft">${r.compared ? html`${count(r.compared)} compared, <b class="${r.different ? "bad" : ""}">${plural(r.different, "difference")}</b>, ${count(r.lag)} lag` : "none compared yet"}${others}</p>
${r.away ? html`<p class="note warn">${m.to} is unreachable, and is sent nothing until it answers again: ${r.away}</p>` : ""}
${r.differences.map(d => html`<p class="note warn">differs ${plural(d.times, "time")}, gene ${d.gene}, ${plural(d.source_rows, "row")} at ${m.from} and ${d.code ? "error " + d.code : d.target_rows} at ${m.to}: <code>${d.statement}</code></p>`)}`;
}

function curve(m, proxy) {
  const {value: history} = take(historyPath(proxy));
  const line = history && history.moves.find(l => l.id === m.id);
  if (!line) return html`<p class="soft">Its curves begin in some seconds.</p>`;
  const marks = history.marks.filter(mark => mark.move === m.id), since = Date.parse(m.created);
  if (m.before.statements + m.since.statements === 0) return chart("copy-" + m.id, "Rows per second", history, [{name: "rows", look: "blue", values: line.rows_per_second}], rate, {marks, since, part: {}});
  return chart("fares-" + m.id, "p99 of statements on its genes", history, [{name: "before", look: "grey", values: line.before_p99_ms}, {name: "since", look: "amber", values: line.since_p99_ms}], ms, {marks, since, part: {}, empty: "No statement on its genes was counted yet."});
}

const order = (m, o) => html`<button id="${o.procedure}-${m.id}" data-job="${m.id}" data-order="${o.procedure}" class="${[o.next ? "go" : "", o.grave ? "grave" : ""].join(" ").trim()}">${o.word}</button>`;

const journal = (id, lines) => html`<div class="scroll" id="scroll-${id}" tabindex="0" role="region" aria-label="journal of ${id}"><table class="stacked"><thead><tr><th scope="col">at</th><th scope="col">what</th><th scope="col">by</th></tr></thead><tbody>
${lines.map(e => html`<tr><td class="time" data-name="at">${clock(e.at)}</td><td data-name="what">${e.what}</td><td class="soft" data-name="by">${e.by}</td></tr>`)}</tbody></table></div>`;

// tableBar is the progress of a table. The bar of one whose rows differ is not full.
function tableBar(m, t) {
  const rows = ((found(m) || {}).rows || []).filter(r => r.table === t.name).length;
  return rows ? html`<span>${t.name}</span>${bar(t.name, Math.min(t.percent, 90), 0, "red")}<span class="value bad">${plural(rows, "row")} differ${rows === 1 ? "s" : ""}</span><span class="text soft">${plural(t.rows_copied, "row")} copied, ${count(t.rows_compared || 0)} compared</span>`
    : html`<span>${t.name}</span>${bar(t.name, t.percent, 0, "blue")}<span class="value">${percent(t.percent)}</span><span class="text soft">${plural(t.rows_copied, "row")} copied${t.rows_compared ? ", " + count(t.rows_compared) + " compared" : ""}</span>`;
}

const working = ["copy", "catch up", "verify"];

function card(m, state, proxy) {
  const p = progress(m), name = stageNow(m).name, busy = working.includes(name);
  return html`<article class="card" id="job-${m.id}" aria-labelledby="title-${m.id}">
<div class="head"><h2 id="title-${m.id}">${m.id}</h2><span class="pill ${moods[m.phase] || ""}" id="phase-${m.id}">${m.phase}</span><b class="share" id="share-${m.id}">${percent(m.percent)}</b><span>${m.from} → ${m.to}</span><span class="soft">${plural(m.genes, "gene")}${m.by_sequence ? " by sequence" : ""} · by ${m.by} · ${day(m.created)}${m.why ? " · " + m.why : ""}</span></div>
${m.problem && !m.trouble ? html`<p class="note">${m.problem}</p>` : ""}${m.remedy ? html`<p class="note warn"><b>Remedy:</b> ${m.remedy}</p>` : ""}${m.trouble ? html`<p class="note warn">Tried again: ${m.trouble}</p>` : ""}
${found(m) ? differing(m, found(m)) : ""}${stepper(m)}
<div class="beside"><div>${bar(name, p.percent, p.goal, name === "cut over" || name === "retire" ? "green" : "blue")}<p class="soft bartext"><b>${percent(p.percent)}</b> ${p.text}${m.every_seconds && name === "cut over" ? ` · ${percent(m.step_percent)} each ${duration(m.every_seconds)}` : ""}</p>
${figures(m)}${fares(m)}${mirrored(m)}${m.orders.length ? html`<div class="buttons" id="orders-${m.id}">${m.orders.toSorted((a, b) => !!b.next - !!a.next).map(o => order(m, o))}</div>` : ""}</div>
<div>${curve(m, proxy)}</div></div>
${m.tables.length ? html`<details id="tables-${m.id}" ${busy ? html`open` : ""}><summary>${plural(m.tables.length, "table")}</summary><div class="bars">${m.tables.map(t => tableBar(m, t))}</div></details>` : ""}
<details id="journal-${m.id}"><summary>Journal, the newest first</summary>${journal(m.id, m.journal)}</details></article>`;
}

function past() {
  const {value, trouble} = take("v1/moves");
  if (!value) return html`<section class="card" id="past"><h2>Finished jobs</h2><p class="soft">${trouble || "Asking …"}</p></section>`;
  return html`<section class="card" id="past" aria-labelledby="past-title"><h2 id="past-title">Finished jobs</h2>${value.moves.length === 0 ? html`<p class="soft">None yet.</p>` : cut(value.moves, chosen.past, pastOnPage).items.map(m => html`<details class="past" id="past-${m.id}" data-journal="${m.id}"><summary><b>${m.id}</b> <span class="pill ${moods[m.phase] || ""}">${m.phase}</span> ${m.from} → ${m.to} <span class="soft">${plural(m.genes, "gene")} · took ${duration(m.seconds)} · by ${m.by} · ${day(m.ended)}${m.why ? " · " + m.why : ""}</span></summary>${unfolded.has(m.id) ? html`${take(journalPath(m.id)).value ? journal("past-" + m.id, take(journalPath(m.id)).value.journal) : html`<p class="soft">${take(journalPath(m.id)).trouble || "Asking …"}</p>`}` : ""}</details>`)}${pager("past", cut(value.moves, chosen.past, pastOnPage), "past")}</section>`;
}

const none = state => html`<section class="card quiet" id="none"><p>No job is under way. <span class="soft">${state.you.admin ? html`Start one below, or with <code>locus split --from SHARD --to SHARD --half</code>.` : html`An admin starts one here, or with <code>locus split --from SHARD --to SHARD --half</code>.`}</span></p></section>`;

export const draw = (state, proxy) => html`<div id="moves">${state.moves.length ? running(state).items.map(m => card(m, state, proxy)) : none(state)}${pager("jobs", running(state))}</div>${state.you.admin ? beginning(state) : ""}${past()}`;

// brief is a line for each move, for the first part.
export const brief = state => state.moves.length === 0 ? "" : html`<section class="card" id="brief" aria-labelledby="brief-title"><h2 id="brief-title">Jobs</h2>${state.moves.toSorted((a, b) => rank(b) - rank(a)).slice(0, inBrief).map(m => html`<p class="line"><a href="#moves"><b>${m.id}</b></a> <span class="pill ${moods[m.phase] || ""}">${m.phase}</span> ${m.from} → ${m.to} <span class="soft"><b>${percent(progress(m).percent)}</b> ${progress(m).text}${m.seconds_left ? ", about " + duration(m.seconds_left) + " left" : ""}</span> ${m.problem ? html`<b class="bad">${m.problem}</b>` : ""}</p>`)}${state.moves.length > inBrief ? html`<p class="soft"><a href="#moves">${count(state.moves.length - inBrief)} more</a></p>` : ""}</section>`;
