//go:build long

package demo

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// listsPage is an empty page with the style and the modules of the dashboard.
const listsPage = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>lists</title><link rel="stylesheet" href="/assets/page.css"></head><body><header><h1>locus</h1><p>Fonts are loaded with the page: <b>bold</b>, <code>code</code></p></header><main id="main"></main></body></html>`

// prepareLists makes the answers and the state of a large cluster. lists.take(more) makes answers with other figures, lists.draw(i) draws a
// part until it is painted, and returns its size.
const prepareLists = `(async () => {
	const parts = ["statements", "tables", "moves", "timeline", "sessions"];
	const [feed, {morph}, ...modules] = await Promise.all(["feed", "morph", ...parts].map(name => import("/assets/" + name + ".js")));
	const now = new Date().toISOString(), text = "SELECT order_id, buyer_uid, amount, status FROM test_order WHERE buyer_uid = ? AND status IN (?) ORDER BY created_at DESC LIMIT ? /* ";
	const numbers = n => [...Array(n).keys()];
	const digests = more => numbers(500).map(i => ({digest: "d" + i, statement: text + i, database: "shop", kind: "select", tables: ["table_" + i % 1000], count: i * 1000 + more, errors: i % 3, rows: i, on_several_shards: 0, total_ms: i * 100, p50_ms: 1, p99_ms: i + more, slowest_ms: i, per_second: i / 7 + more, under_way: i / 1000, first_seen: now, last_seen: now}));
	const declared = numbers(1000).map(i => ({database: "shop", name: "table_" + i, kind: "sharded", owner: "buyer_uid", declaration: "x", columns: numbers(20).map(c => ({name: "column_" + c, type: "bigint"}))}));
	const sizes = more => declared.map((t, i) => ({database: "shop", name: t.name, declared: true, rows: i * 1000 + more, bytes: i * 100000 + more, skew: 1, shards: ["s0", "s1", "s2"].map(shard => ({shard, rows: i, bytes: i}))}));
	const stages = ["copy", "catch up", "verify", "cut over", "retire"].map((name, i) => ({name, state: i ? "ahead" : "now"}));
	const fares = {statements: 0, failed: 0, p99_ms: 0};
	const orders = ["cutover", "pause", "throttle", "abort"].map(procedure => ({procedure, word: procedure, ask: "?"}));
	const job = (i, more) => ({id: "split-" + i, phase: "copying", severity: "none", percent: 0, wanted_percent: 0, copied_percent: 40, verified_percent: 0, rows_estimate: 1e6, rows_copied: 4e5 + more, rows_verified: 0, rows_per_second: 1e4 + more, lag_ms: 12, from: "s0", to: "s1", genes: 100, by: "dba", created: now, next_step_seconds: -1, stages, before: fares, since: fares, orders, tables: numbers(10).map(t => ({name: "shop.table_" + t, percent: 40, rows_copied: 4e4 + more})), journal: numbers(8).map(n => ({at: now, what: "a step " + n, by: "dba"}))});
	const ended = numbers(200).map(i => ({id: "split-" + (1000 + i), phase: "done", from: "s0", to: "s1", genes: 100, by: "dba", created: now, ended: now, seconds: 100}));
	const at = numbers(180).map(i => Date.parse(now) - 5000 * (180 - i));
	const history = {from: new Date(at[0]).toISOString(), to: now, step_seconds: 5, at, series: [], moves: numbers(200).map(i => ({id: "split-" + i, rows_per_second: at.map((t, n) => 1e4 + n), before_p99_ms: at.map(() => null), since_p99_ms: at.map(() => null)})), marks: []};
	const events = numbers(100).map(i => ({id: "e" + i, at: now, kind: "job", subject: "split-" + i, what: "step to 6554 of 16384 genes", took_ms: 40, by: "dba", command: "locus jobs split-" + i}));
	const sessions = more => numbers(200).map(i => ({proxy: "p1", id: i, user: "app", client: "10.0.0.1:4000", database: "shop", command: "Query", state: "", seconds: i + more, statement: text + i}));
	const answers = more => ({"v1/statements": {at: now, since: now, proxies: 2, digests: 500, statements: digests(more)}, "v1/tables": {tables: declared, default_shard: "s0", gene_bits: 16, hash: "md5"}, "v1/tables/sizes": {tables: sizes(more), trouble: [], left: 0}, "v1/moves": {moves: ended}, "v1/history?span=1h": history, "v1/history?span=15m": history, "v1/events?limit=100&since=24h": {events, next: "e100"}, "v1/sessions": {sessions: sessions(more), omitted: 9800, silent: []}});
	let given = {};
	window.fetch = path => given[path] ? Promise.resolve(new Response(JSON.stringify(given[path]))) : Promise.reject(new Error(path));
	const take = async more => { given = answers(more); for (const path of Object.keys(given)) { feed.forget(path); await feed.ask(path, 0, () => {}); } };
	const stateOf = more => ({at: now, you: {admin: true}, shards: [{name: "s0"}, {name: "s1"}, {name: "s2"}], moves: numbers(200).map(i => job(i, more)), proxies: []});
	const main = document.getElementById("main");
	let state;
	window.lists = {
		clear() { main.textContent = ""; },
		async take(more) { await take(more); state = stateOf(more); },
		async draw(i) {
			if (modules[i].read) modules[i].read("#" + parts[i]);
			const html = String(modules[i].draw(state, ""));
			morph(main, html);
			main.getBoundingClientRect();
			await new Promise(painted => requestAnimationFrame(() => setTimeout(painted)));
			return Math.round(new TextEncoder().encode(html).length / 1024) + " KiB, " + main.querySelectorAll("tbody > tr, article, details.past").length + " rows";
		},
	};
	return parts.join();
})()`

// TestLongListsInABrowser draws 500 statements, 1,000 tables, 200 running and 200 finished jobs, a page of 50,000 events, and
// many sessions. It checks a bound on the size of each part, and logs the times.
func TestLongListsInABrowser(t *testing.T) {
	assets := http.StripPrefix("/assets/", http.FileServer(http.Dir("../../control/console/assets")))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			assets.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, listsPage)
	}))
	defer server.Close()
	b := openBrowser(t)
	for _, width := range []int{1440, 390} {
		b.size(width, 900, "light")
		b.open(server.URL)
		b.call("Performance.enable", nil, nil)
		for i, part := range strings.Split(b.eval(prepareLists), ",") {
			b.eval(`lists.clear()`)
			var first, changed time.Duration
			size := ""
			for more := range 4 {
				b.eval(fmt.Sprintf(`lists.take(%d)`, more))
				before := b.worked()
				size = b.eval(fmt.Sprintf(`lists.draw(%d)`, i))
				if changed = b.worked() - before; more == 0 {
					first = changed
				}
			}
			t.Logf("%s at %d pixels: %v of work at first, %v after a change, %s", part, width, first.Round(time.Millisecond), changed.Round(time.Millisecond), size)
			var kib, rows int
			if _, err := fmt.Sscanf(size, "%d KiB, %d rows", &kib, &rows); err != nil || kib > 200 || rows == 0 || rows > 110 {
				t.Errorf("%s: the page of a list is not bounded: %s", part, size)
			}
		}
	}
}

// worked is the processor time of the page's main thread.
func (b *browser) worked() time.Duration {
	b.t.Helper()
	var r struct {
		Metrics []struct {
			Name  string
			Value float64
		}
	}
	b.call("Performance.getMetrics", nil, &r)
	for _, m := range r.Metrics {
		if m.Name == "ThreadTime" {
			return time.Duration(m.Value * float64(time.Second))
		}
	}
	b.t.Fatalf("the browser does not count its work: %v", r.Metrics)
	return 0
}
