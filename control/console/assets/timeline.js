// The timeline of the cluster: who did what, when, and how long it took. The filters are in the page's address, so that it can be sent to others.
import {html} from "./html.js";
import {take} from "./feed.js";
import {clock, day, duration, ms} from "./words.js";

const kinds = ["job", "failover", "switchover", "definition", "declaration", "drain", "process", "keys", "finding", "outage", "errors"];

// spans are the choices of since, with their names. 18:00 is the last one of the clock, in UTC.
const spans = {"1h": "the last hour", "18:00": "since 18:00", "24h": "the last 24 hours", "7d": "the last 7 days", "30d": "the last 30 days"};

const first = {kind: "", subject: "", since: "24h", after: ""};

// chosen is what is shown. after is the end of the page of later events; "": the latest page.
export const chosen = {...first};

// read takes the filters from the address, such as #timeline?kind=job&since=7d.
export function read(hash) {
  const given = new URLSearchParams(hash.split("?")[1] || "");
  for (const name of Object.keys(first)) chosen[name] = given.get(name) || first[name];
  if (chosen.kind && !kinds.includes(chosen.kind)) chosen.kind = "";
}

// address returns the address of what is shown, without the filters that are as at first.
export function address() {
  const set = new URLSearchParams(Object.entries(chosen).filter(([name, value]) => value !== first[name]));
  return "#timeline" + (set.size ? "?" + set : "");
}

// choose sets a filter. The latest page is shown then.
export function choose(name, value) {
  chosen.after = "";
  chosen[name] = value;
}

const path = () => "v1/events?limit=100&" + new URLSearchParams(Object.entries(chosen).filter(([, value]) => value));

export const needs = () => [[path(), chosen.after ? 60000 : 3000]];

// places are the parts of the page that show more about the subjects of a kind.
const places = {job: "moves", failover: "overview", switchover: "overview", declaration: "routes", definition: "tables", finding: "doctor", outage: "doctor", errors: "statements", drain: "overview", process: "overview"};

// took writes a duration, or nothing.
export const took = e => !e.took_ms ? "" : e.took_ms < 10000 ? ms(e.took_ms) : duration(e.took_ms / 1000);

export const row = e => html`<tr id="event-${e.id}"><th scope="row" class="time">${day(e.at) + clock(e.at).slice(5)}</th><td data-name="kind">${places[e.kind] ? html`<a href="#${places[e.kind]}">${e.kind}</a>` : e.kind}${e.failed ? html` <span class="pill bad">failed</span>` : ""}</td><td data-name="what"><b>${e.subject}</b> ${e.what}${e.command ? html`<br><span class="soft"><code>${e.command}</code></span>` : ""}</td><td data-name="took" class="number">${took(e) || "–"}</td><td data-name="by">${e.by || "–"}</td></tr>`;

const filters = () => html`<div class="fields"><label>kind <select id="timeline-kind" data-timeline="kind"><option value="">all</option>${kinds.map(k => html`<option value="${k}">${k}</option>`)}</select></label>
<label>time <select id="timeline-since" data-timeline="since">${Object.entries(spans).map(([value, name]) => html`<option value="${value}">${name}</option>`)}${spans[chosen.since] ? "" : html`<option value="${chosen.since}">since ${chosen.since}</option>`}</select></label>
<label>subject <input id="timeline-subject" data-timeline="subject" value="" placeholder="such as split-1 or s0"></label></div>`;

export function draw() {
  const {value, trouble} = take(path());
  return html`<section class="card" id="timeline" aria-labelledby="timeline-title"><div class="head"><h2 id="timeline-title">Timeline</h2><span class="soft">the latest event first${value && trouble ? " · not up to date: " + trouble : ""}</span></div>
${filters()}
${!value ? html`<p class="soft">${trouble || "Reading …"}</p>` : value.events.length ? html`<table class="stacked"><thead><tr><th scope="col">at</th><th scope="col">kind</th><th scope="col">what</th><th scope="col" class="number">took</th><th scope="col">by</th></tr></thead><tbody>${value.events.map(row)}</tbody></table>` : html`<p>${value.next ? "No event on this page." : "No events."}</p>`}
<p class="buttons">${chosen.after ? html`<button id="timeline-latest" data-after="">Latest</button>` : ""}${value && value.next ? html`<button id="timeline-earlier" data-after="${value.next}">Earlier</button>` : ""}</p>
<p class="soft">The same is in <code>locus events</code> and in <code>locus.events</code>. Events are kept for 30 days, at most 50,000.</p></section>`;
}
