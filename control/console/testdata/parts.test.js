import {test} from "node:test";
import assert from "node:assert/strict";
import {found, strip, title, verdict, shardStates} from "../assets/strip.js";
import {finding} from "../assets/doctor.js";
import {acts} from "../assets/acts.js";
import {brief, choose, differing, mirrored, progress, running, stageNow, takeRow} from "../assets/moves.js";
import {cut, pager} from "../assets/pager.js";
import * as statements from "../assets/statements.js";
import * as statement from "../assets/statement.js";
import {rights} from "../assets/users.js";
import * as tables from "../assets/tables.js";
import * as timeline from "../assets/timeline.js";
import * as sessions from "../assets/sessions.js";

const shard = (name, state, problem) => ({name, state, problem, severity: problem ? "outage" : "none"});
const state = {
  cluster: "shop", well: false, severity: "outage", outages: 1, at_risk: 0, advice: 0, acknowledged: 0, problems: 1, worst: "shard s1 is frozen", proxies: [{id: "p", severity: "none"}], etcd: [{endpoint: "e", severity: "none"}], findings: [], doctor: {at: "2026-03-04T05:06:07Z"}, sessions: 3,
  shards: [shard("s0", "well"), shard("s1", "frozen", "it has answered no probe"), shard("s2", "well")], statements: {statements_per_second: 1234, errors_per_second: 2, p99_ms: 8},
};

test("the title and the strip tell the worst", () => {
  assert.equal(title(state, ""), "▲ shard s1 is frozen · shop · locus");
  assert.equal(title({...state, well: true}, ""), "✓ healthy · shop · locus");
  assert.match(title(state, "it is away"), /^\? no answer/);
  assert.equal(verdict({...state, problems: 3}), "shard s1 is frozen, and 2 more problems");
  assert.deepEqual(shardStates(state.shards), [{state: "frozen", count: 1}, {state: "well", count: 2}]);
  const drawn = String(strip(state));
  for (const want of ["1 frozen, 2 well", "1,234/s", "2.00/s", "8.00 ms", 'class="cell bad" id="cell-shards"', 'class="cell good" id="cell-etcd"', 'class="verdict bad"', "1 outage"]) assert.ok(drawn.includes(want), want);
});

test("each severity has its own colour and words", () => {
  for (const [severity, colour, counts, says] of [
    ["none", "good", {}, "healthy"], ["advice", "advice", {advice: 2}, "healthy, with 2 pieces of advice"],
    ["at-risk", "warn", {well: false, at_risk: 1, problems: 1, worst: "s0: a disk is full"}, "s0: a disk is full"],
    ["outage", "bad", {well: false, outages: 1, problems: 1, worst: "shard s1 is away"}, "shard s1 is away"],
  ]) {
    const one = {...state, well: true, outages: 0, problems: 0, worst: "", severity, shards: [shard("s0", "well")], ...counts};
    assert.equal(verdict(one), says);
    const drawn = String(strip(one));
    for (const want of [`class="verdict ${colour}"`, `class="cell ${colour}" id="cell-doctor"`]) assert.ok(drawn.includes(want), want + drawn);
  }
  assert.equal(found({outages: 0, at_risk: 1, advice: 2, acknowledged: 3}), "1 risk, 2 advice, 3 acknowledged");
});

test("a server that is down is one finding with its consequences", () => {
  const drawn = String(finding({id: "ab", severity: "outage", check: "servers", where: "s1 at db:1", what: "it is away", remedy: "start it", expect: "failover under way", consequences: [{where: "s1", check: "logins", what: "refused <b>", remedy: "see it"}]}));
  for (const want of ['id="finding-ab"', "pill bad", "failover under way", "1 consequence", "refused &lt;b&gt;"]) assert.ok(drawn.includes(want), want + drawn);
  assert.ok(!drawn.includes("acknowledge"));
  const risk = {id: "cd", severity: "at-risk", check: "disk", where: "s0", what: "full", remedy: "room"};
  assert.ok(String(finding(risk, true)).includes('data-act="acknowledge" data-of="cd"'));
  assert.ok(!String(finding(risk, false)).includes("data-act"));
  assert.ok(!String(finding({...risk, severity: "outage"}, true)).includes("data-act"));
  assert.ok(String(finding({...risk, acknowledged: {by: "anna", at: "", why: "known"}}, true)).includes('data-act="withdraw"'));
  assert.ok(String(finding({...risk, acknowledged: {by: "anna", at: "2026-03-04T05:06:07Z", why: "known"}})).includes("Acknowledged by anna at 2026-03-04 05:06: known"));
});

test("a request names its consequences, and what is left", () => {
  const with2 = {...state, server: "p1", proxies: [{id: "p1", sessions: 3}, {id: "p2", sessions: 0}], findings: [{id: "cd", severity: "at-risk", where: "s0", what: "full"}, {id: "ef", severity: "advice", where: "s1", what: "old"}], shards: [{...shard("s0", "well"), address: "db:1", replicas: [{address: "db:2", lag_ms: 40, usable: true}, {address: "db:3", lag_ms: 0, usable: false}]}]};
  const drain = acts.drain(with2, "p1").order;
  for (const want of ["one of 2 proxies", "3 sessions", "drain_delay", "serves this page"]) assert.ok(drain.ask.includes(want), want + drain.ask);
  assert.deepEqual([drain.body, drain.grave], [{process: "p1", last: false}, true]);
  assert.equal(drain.done({process: "p1", proxies_left: 1}), "p1 drains. 1 proxy is left.");
  const last = acts.drain({...with2, proxies: [{id: "p2", sessions: 1}]}, "p2").order;
  assert.ok(last.ask.startsWith("This is the only proxy") && last.body.last, last.ask);
  const over = acts.switchover(with2, "s0").order;
  assert.ok(over.ask.includes("db:2 is 40.0 ms behind, db:3 is 0 ms behind and not usable"), over.ask);
  assert.deepEqual([over.arguments[0].choices, over.body, acts.promote(with2, "s0").order.grave], [["db:2", "db:3"], {shard: "s0"}, true]);
  assert.deepEqual(["cd", "ef"].map(id => acts.acknowledge(with2, id).order.arguments[1].value), ["7", "0"]);
});

test("differing rows are next to each other, and their table's bar is not full", () => {
  const list = {source: "s0", target: "s2", beyond: 5, rows: [{row: 3, table: "shop.o", key: "(7)", source: "7, <90>", target: "", owner: "source", newer: "", columns: []}]};
  const drawn = String(differing({id: "split-1"}, list));
  for (const want of ["6 rows differ", "7, &lt;90&gt;", "no such row", "clients see it", "About 5 more"]) assert.ok(drawn.includes(want), want + drawn);
  assert.ok(!drawn.includes("data-act"));
  assert.equal(differing({id: "split-1"}, {rows: [], beyond: 0}), "");
});

test("one row can be repaired, with both rows in the question", () => {
  const m = {id: "split-1", orders: [{procedure: "repair"}]};
  const list = {source: "s0", target: "s2", beyond: 0, rows: [
    {row: 3, table: "shop.o", key: "(7)", source: "7, <90>", target: "", owner: "source", newer: "", columns: []},
    {row: 4, table: "shop.o", key: "(8)", source: "8, 1", target: "8, 2", owner: "target", newer: "target", columns: ["amount"]}]};
  const drawn = String(differing(m, list));
  for (const want of ['data-of="split-1 3 source"', 'data-of="split-1 4 target"', "Take s2's …"]) assert.ok(drawn.includes(want), want + drawn);
  const inserts = takeRow(m, list, "3", "source"), deletes = takeRow(m, list, "3", "target"), replaces = takeRow(m, list, "4", "source");
  assert.deepEqual(inserts.order.body, {job: "split-1", take: "source", rows: "3"});
  assert.ok(inserts.order.ask.startsWith("The row of s0 is inserted at s2.") && !inserts.order.ask.includes("move_repair") && inserts.order.grave, inserts.order.ask);
  for (const want of ["s2 has no such row, so the row at s0 is deleted.", "Clients see the row of s0 now.", "stays in locus.move_repair of s0"]) assert.ok(deletes.order.ask.includes(want), want + deletes.order.ask);
  for (const want of ["The row at s2 is replaced by the one of s0.", "Clients see the row of s2 now.", "The row of s2 has the newer version."]) assert.ok(replaces.order.ask.includes(want), want + replaces.order.ask);
  for (const want of ["8, 1", "8, 2", "at s0", "at s2", "newer"]) assert.ok(String(replaces.order.beside).includes(want), want + replaces.order.beside);
});

test("a cluster without anything says so", () => {
  const drawn = String(strip({...state, shards: [], proxies: [], etcd: undefined, doctor: {}, severity: "none"}));
  for (const want of ["none", "0 well", "asking …", "looking …"]) assert.ok(drawn.includes(want), want);
});

const move = (stage, more) => ({stages: ["copy", "catch up", "verify", "cut over", "retire"].map(name => ({name, state: name === stage ? "now" : "ahead"})), from: "s0", to: "s2", percent: 40, wanted_percent: 60, copied_percent: 12, verified_percent: 30, rows_copied: 500, rows_estimate: 1000, rows_verified: 7, rows_deleted: 250, lag_ms: 3, ...more});

test("a move has one bar, of the stage that it is in", () => {
  assert.deepEqual(progress(move("copy")), {percent: 12, goal: 0, text: "500 of about 1,000 rows copied"});
  assert.deepEqual(progress(move("verify")), {percent: 30, goal: 0, text: "7 rows compared on both shards"});
  assert.deepEqual(progress(move("cut over")), {percent: 40, goal: 60, text: "of its genes at s2, on the way to 60 %"});
  assert.equal(progress(move("retire", {phase: "retiring"})).percent, 25);
  assert.match(progress(move("retire", {phase: "cut"})).text, /s0 keeps its rows/);
  assert.equal(stageNow(move("catch up")).name, "catch up");
});

test("mirrored reads are beside each other, with what differs", () => {
  assert.equal(mirrored(move("verify")), "");
  const mirror = {percent: 10, sampled: 60, compared: 50, different: 0, lag: 2, looking: 0, unsettled: 0, reordered: 0, dropped: 3, too_long: 0, unsent: 0, late: 0, failed: 0, source_p50_ms: 1, source_p99_ms: 4, target_p50_ms: 1.5, target_p99_ms: 90, differences: []};
  const drawn = String(mirrored(move("verify", {id: "split-1", mirror})));
  for (const want of ["Mirrored reads: 10 %", "50 compared", "0 differences", "2 lag, 3 dropped", 'class="number warn">90']) assert.ok(drawn.includes(want), want + drawn);
  const bad = String(mirrored(move("verify", {id: "split-1", mirror: {...mirror, compared: 0, away: "it <is> gone", differences: [{statement: "select ?", gene: "0x4001", source_rows: 1, target_rows: 0, times: 2}]}})));
  for (const want of ["none compared yet", "it &lt;is&gt; gone", "differs 2 times, gene 0x4001, 1 row at s0 and 0 at s2", "select ?"]) assert.ok(bad.includes(want), want + bad);
});

test("statements are sorted by what one wants to know, and found by their text", () => {
  const list = [{digest: "a1", statement: "SELECT a", first_seen: "2026-03-04T05:00:00Z", errors: 0, gathered: 1, shards_reached: 3, per_second: 1, p99_ms: 9, total_ms: 1, count: 4, on_several_shards: 2}, {digest: "b2", statement: "UPDATE b", database: "shop", first_seen: "2026-03-01T05:00:00Z", errors: 2, gathered: 0, shards_reached: 0, per_second: 5, p99_ms: 200, total_ms: 2, count: 1, on_several_shards: 0}];
  const texts = sorted => statements.arranged({at: "2026-03-04T05:06:07Z", statements: list}, {text: "", show: "", ...sorted}, 3).map(s => s.statement);
  assert.deepEqual(texts({by: "per_second"}), ["UPDATE b", "SELECT a"]);
  assert.deepEqual(texts({by: "rows"}).length, 2);
  assert.deepEqual(texts({by: "on_several_shards"}), ["SELECT a", "UPDATE b"]);
  assert.deepEqual(texts({by: "p99_ms", text: " SHOP "}), ["UPDATE b"]);
  for (const [show, want] of [["failing", ["UPDATE b"]], ["slow", ["UPDATE b"]], ["all", ["SELECT a"]], ["several", ["SELECT a"]], ["gathers", ["SELECT a"]], ["new", ["SELECT a"]], ["nonsense", ["UPDATE b", "SELECT a"]]]) assert.deepEqual(texts({by: "per_second", show}), want, show);
  assert.deepEqual(texts({by: "per_second", text: "a1"}), ["SELECT a"]);
  list.push({...list[0], statement: "SELECT on two", shards_reached: 2, gathered: 0});
  assert.deepEqual([texts({by: "p99_ms", show: "all"}), texts({by: "p99_ms", show: "several"}).length], [["SELECT a"], 2]);
});

test("the list of statements and the page of one are in the address", () => {
  statements.read("#statements?show=failing&page=3&text=a%26b");
  assert.equal(statements.address(), "#statements?show=failing&text=a%26b&page=3");
  statements.choose("by", "errors");
  assert.equal(statements.address(), "#statements?by=errors&show=failing&text=a%26b");
  const page = statements.pageOf({digest: "ab12", database: "my shop"});
  assert.equal(page, "#statements?digest=ab12&database=my+shop");
  statements.read(page);
  assert.deepEqual(statements.needs("")[0], ["v1/statements/ab12?database=my+shop&span=1h", 5000]);
  statements.read("#statements");
  assert.deepEqual(statements.needs(""), [["v1/statements", 5000]]);
});

test("a statement's plan is there for an admin, with its text", () => {
  statement.plan.answer = {route: [{part: "shards", detail: "<s0>"}], shards: [{shard: "s0", columns: ["key"], rows: [["PRIMARY"], [""]]}, {shard: "s1", problem: "it does not answer"}]};
  statement.plan.digest = "ab";
  const drawn = String(statement.explaining({digest: "ab", statement: "select <?>"}, true));
  for (const want of ["&lt;s0&gt;", "<td>PRIMARY</td>", "<td>–</td>", "it does not answer", 'data-explain-go']) assert.ok(drawn.includes(want), want + drawn);
  assert.ok(String(statement.explaining({digest: "cd", statement: "select <?>"}, true)).includes("select &lt;?&gt;</textarea>"));
  assert.ok(!String(statement.explaining({digest: "cd", statement: "x"}, false)).includes("textarea"));
});

test("rights are told in words, and only those that are not everybody's", () => {
  const plain = {admin: false, read_only: false, ddl: true, scatter: "allow", scatter_writes: "refuse", unfiltered: "allow", large_offset: "allow", large_gather: "refuse"};
  assert.deepEqual(rights(plain), []);
  assert.deepEqual(rights({...plain, admin: true, ddl: false, scatter: "warn", max_connections: 1000}), ["admin", "no DDL", "reads of several shards: warn", "1,000 connections at a proxy"]);
  assert.equal(tables.routed({kind: "sharded", owner: "buyer_uid"}), "placed by buyer_uid");
});

test("the filters of the timeline are in its address", () => {
  timeline.read("#timeline?kind=job&since=7d&subject=split-1&after=x");
  assert.deepEqual({...timeline.chosen}, {kind: "job", subject: "split-1", since: "7d", after: "x"});
  assert.deepEqual(timeline.needs()[0], ["v1/events?limit=100&kind=job&subject=split-1&since=7d&after=x", 60000]);
  timeline.choose("subject", "a&b=c");
  assert.equal(timeline.address(), "#timeline?kind=job&subject=a%26b%3Dc&since=7d");
  timeline.read(timeline.address());
  assert.equal(timeline.chosen.subject, "a&b=c");
  timeline.read("#timeline?kind=nonsense");
  assert.equal(timeline.address(), "#timeline");
  assert.deepEqual(timeline.needs()[0], ["v1/events?limit=100&since=24h", 3000]);
});

test("an event has its time, its duration and its text, which is escaped", () => {
  const drawn = String(timeline.row({id: "7-1", at: "2026-03-01T22:10:05.123Z", kind: "failover", subject: "shard s0", what: "b:1 <is> the primary", by: "p-1", took_ms: 1500, failed: true, command: "locus status"}));
  for (const want of ['id="event-7-1"', "2026-03-01 22:10:05", "<b>shard s0</b> b:1 &lt;is&gt; the primary", "1,500 ms", ">failed<", "<code>locus status</code>", 'href="#overview"']) assert.ok(drawn.includes(want), want + drawn);
  assert.equal(timeline.took({took_ms: 83000}), "1 m 23 s");
  assert.equal(timeline.took({}), "");
});

test("sessions are selected by what runs and by any text of a row", () => {
  const list = [
    {id: 7, proxy: "a:4306", user: "app", client: "h:1", command: "Query", state: "updating", statement: "UPDATE <orders>", seconds: 8},
    {id: 8, proxy: "b:4306", user: "report", client: "h:2", command: "Sleep", seconds: 900},
  ];
  const ids = (running, filter) => { Object.assign(sessions.chosen, {running, filter}); return sessions.selected(list).map(s => s.id); };
  assert.deepEqual(ids("", ""), [7, 8]);
  assert.deepEqual(ids("1", ""), [7]);
  assert.deepEqual(ids("", "REPORT"), [8]);
  assert.deepEqual(ids("", "orders"), [7]);
  assert.deepEqual(ids("1", "b:4306"), []);
  ids("", "");
});

test("only an admin sees how to end a session, and an idle one has no statement to end", () => {
  const running = {id: 7, proxy: "a:4306", user: "app", client: "h:1", command: "Query", state: "", statement: "UPDATE <orders>", seconds: 8};
  const shown = String(sessions.row(running, true));
  for (const want of ['data-session="7@a:4306" data-kill="statement"', 'data-kill="session"', "UPDATE &lt;orders&gt;", "8 s"]) assert.ok(shown.includes(want), want + shown);
  assert.ok(!String(sessions.row(running, false)).includes("data-kill"));
  assert.ok(!String(sessions.row({...running, command: "Sleep"}, true)).includes('data-kill="statement"'));
  const order = sessions.order(running, true);
  assert.deepEqual([order.procedure, order.body, order.done()], ["kill_statement", {proxy: "a:4306", session: 7}, "The statement of session 7 of proxy a:4306 has ended."]);
  assert.equal(sessions.order(running, false).procedure, "kill_session");
});

test("tables have sizes, statements and an address, and undeclared ones are listed", () => {
  const declared = [{database: "shop", name: "orders", kind: "sharded", owner: "buyer", columns: []}];
  const sizes = [{database: "shop", name: "orders", declared: true, rows: 400, bytes: 4000, skew: 1.5, shards: []}, {database: "shop", name: "old", declared: false, rows: 7, bytes: 70, skew: 0, shards: [{shard: "s0"}]}];
  const statements = [{tables: ["Orders"], database: "shop", under_way: 2}, {tables: ["shop.orders"], under_way: 3}, {tables: ["orders"], database: "other", under_way: 9}];
  const all = tables.joined(declared, sizes, statements);
  assert.deepEqual(all.map(t => [t.name, t.kind, t.rows, t.load]), [["orders", "sharded", 400, 5], ["old", "undeclared", 7, 0]]);
  const list = choice => tables.selected(all, {text: "", show: "", by: "bytes", ...choice}).map(t => t.name);
  assert.deepEqual([list({}), list({show: "undeclared"}), list({text: "SHOP.ORD"}), list({by: "load"})], [["orders", "old"], ["old"], ["orders"], ["orders", "old"]]);
  tables.read("#tables?table=shop.orders");
  assert.equal(tables.address(), "#tables?table=shop.orders");
  tables.read("#tables?show=undeclared&page=2");
  tables.choose("by", "skew");
  assert.equal(tables.address(), "#tables?show=undeclared&by=skew");
  assert.deepEqual(acts.importTable({}, "shop.old").order.make({words: "global"}), {tables: [{table: "shop.old", words: "global"}]});
});

test("long lists are cut into pages", () => {
  const list = [...Array(101).keys()];
  assert.deepEqual([cut(list, "2", 50).items[0], cut(list, "2", 50).pages], [50, 3]);
  assert.deepEqual(["0", "x", "99"].map(asked => cut(list, asked, 50).page), [1, 1, 3]);
  assert.equal(String(pager("jobs", cut(list, "1", 200))), "");
  const middle = String(pager("jobs", cut(list, "2", 50), "past"));
  for (const want of ['data-page="1"', 'data-page="3"', "page 2 of 3", 'data-page-field="past"']) assert.ok(middle.includes(want), want + middle);
});

test("of many jobs, those that need attention come first", () => {
  const jobs = [...Array(30).keys()].map(i => ({id: "split-" + i, severity: i === 20 ? "outage" : i === 10 ? "at-risk" : "none", stages: [{name: "copy", state: "now"}], rows_estimate: 1}));
  assert.deepEqual(running({moves: jobs}).items.slice(0, 3).map(m => m.id), ["split-20", "split-10", "split-0"]);
  assert.deepEqual(running({moves: jobs.slice(0, 3)}).items.map(m => m.id), ["split-0", "split-1", "split-2"]);
  const before = running({moves: jobs}).items.length;
  choose("page", "2");
  assert.ok(before < 10 && running({moves: jobs}).items[0].id !== "split-20");
  choose("page", "1");
  const drawn = String(brief({moves: jobs}));
  assert.ok(drawn.includes("20 more") && drawn.indexOf("split-20") < drawn.indexOf("split-10"), drawn);
});
