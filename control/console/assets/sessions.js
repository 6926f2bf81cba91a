// Sessions: who is connected where, what runs, and for how long. An administrator can end a session or its statement.
import {html} from "./html.js";
import {take} from "./feed.js";
import {cut, pager} from "./pager.js";
import {count, duration} from "./words.js";

export const needs = () => [["v1/sessions", 3000]];

// chosen is what is shown: all sessions, or those that run a statement, and a part of what a row contains.
const first = {running: "", filter: "", page: "1"};
export const chosen = {...first};

// read takes the filters from the address, such as #sessions?running=1&filter=app.
export function read(hash) {
  const given = new URLSearchParams(hash.split("?")[1] || "");
  for (const name of Object.keys(first)) chosen[name] = given.get(name) || first[name];
}

const onPage = 50;

export function choose(name, value) {
  if (name !== "page") chosen.page = first.page;
  chosen[name] = value;
}

export const address = () => "#sessions" + (n => n.size ? "?" + n : "")(new URLSearchParams(Object.entries(chosen).filter(([name, value]) => value !== first[name])));

export const runs = s => s.command !== "Sleep";

// selected returns the sessions that the filters select.
export function selected(list) {
  const part = chosen.filter.toLowerCase();
  return list.filter(s => (!chosen.running || runs(s)) &&
    [s.proxy, String(s.id), s.user, s.client, s.database, s.state, s.statement].some(text => (text || "").toLowerCase().includes(part)));
}

// order returns what the dialog asks before a session, or only its statement, is ended.
export function order(session, statement) {
  const name = `session ${session.id} of proxy ${session.proxy}`;
  return {
    word: statement ? "End the statement" : "End the session", procedure: statement ? "kill_statement" : "kill_session", grave: !statement,
    ask: statement ? "The statement ends on the shards; the session goes on." : "Its statement ends on the shards, its transaction is rolled back, and its connection is closed.",
    body: {proxy: session.proxy, session: session.id}, done: () => `The ${statement ? "statement of " : ""}${name} has ended.`,
  };
}

// find returns a session by the key of its row.
export const find = key => ((take("v1/sessions").value || {}).sessions || []).find(s => keyOf(s) === key);

const keyOf = s => s.id + "@" + s.proxy;

export const row = (s, may) => html`<tr id="session-${keyOf(s)}"><th scope="row">${s.id} <span class="soft">${s.proxy}</span></th><td data-name="user">${s.user}</td><td data-name="from">${s.client}</td><td data-name="database">${s.database || "–"}</td><td data-name="state">${s.command}${s.state ? ", " + s.state : ""}</td><td data-name="for" class="number">${duration(s.seconds)}</td><td data-name="statement">${s.statement ? html`<code>${s.statement}</code>` : "–"}</td><td data-name="">${may ? html`${runs(s) ? html`<button class="plain" data-session="${keyOf(s)}" data-kill="statement">End statement</button> ` : ""}<button class="plain" data-session="${keyOf(s)}" data-kill="session">End session</button>` : ""}</td></tr>`;

const filters = () => html`<div class="fields"><label>sessions <select id="sessions-running" data-sessions="running"><option value="">all</option><option value="1">that run a statement</option></select></label>
<label>filter <input id="sessions-filter" data-sessions="filter" value="" placeholder="a user, client, proxy or text"></label></div>`;

export function draw(state) {
  const {value, trouble} = take("v1/sessions");
  const may = state.you.admin;
  const list = value ? selected(value.sessions) : [], page = cut(list, chosen.page, onPage);
  return html`<section class="card" id="sessions" aria-labelledby="sessions-title"><div class="head"><h2 id="sessions-title">Sessions</h2><span class="soft">running statements first, the longest first${value && trouble ? " · not up to date: " + trouble : ""}</span></div>
${filters()}
${!value ? html`<p class="soft">${trouble || "Asking …"}</p>` : list.length ? html`<table class="stacked"><thead><tr><th scope="col">session</th><th scope="col">user</th><th scope="col">from</th><th scope="col">database</th><th scope="col">state</th><th scope="col" class="number">for</th><th scope="col">statement</th><th scope="col"><span class="unseen">actions</span></th></tr></thead><tbody>${page.items.map(s => row(s, may))}</tbody></table>${pager("sessions", page)}` : html`<p>No session.</p>`}
${value && value.omitted ? html`<p class="soft">${count(value.omitted)} more sessions are not listed.</p>` : ""}${value && value.silent ? html`<p class="note">No answer from ${value.silent.join(", ")}.</p>` : ""}
<p class="soft">The same is in <code>locus sessions list</code> and in <code>locus.sessions</code>. Literals are replaced by ?.</p></section>`;
}
