//go:build long

package demo

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"locus/cmd/dbserver"
	"locus/test/product"
)

// TestTheDashboardInABrowser watches a split from 0 to 100 % and controls it with the buttons of the page. The
// page is never reloaded.
func TestTheDashboardInABrowser(t *testing.T) {
	d := start(t, dbserver.MariaDB, t.TempDir(), "--orders-per-second", "0", "--proxies", "2")
	b := openBrowser(t)
	b.size(1440, 900, "light")
	b.open(d.HTTP.URL)
	b.screenshot("login-1440-light")
	b.login(d.HTTP.URL, d.HTTP.User, d.HTTP.Password)
	b.weighs(d.HTTP.URL)
	b.isEmptyAtFirst()
	orders := work(t, d.db(), 1)
	product.Eventually(t, "there are some orders", func() bool { return orders.inserted.Load() > 200 || orders.failure.Load() != nil })
	b.eval(`window.loadedOnce = true`)
	b.part("overview")
	b.until("three shards are well", `document.getElementById("cell-shards").textContent.includes("3 well")`)
	b.until("what the orders cost is told", `parseInt(document.querySelector("#cell-rate .value").textContent.replace(",", "")) > 10`)
	b.until("doctor has run", `document.querySelector("#cell-doctor .value").textContent !== "looking …"`)
	b.until("curves are drawn", `document.querySelectorAll("path.line").length >= 5`)

	d.query("SELECT CONCAT(SLEEP(1), 's3cret')")
	b.part("statements")
	b.press(`[data-sort="slowest_ms"]`)
	b.until("the slow statement is first", `document.querySelector(".statements tbody code")?.textContent.includes("SELECT CONCAT(SLEEP(?), ?)")`)
	b.screenshot("statements-1440-light")

	b.begins("s0", "s2")
	b.phase("split-1", "ready")
	b.until("the next request is the primary button", `document.querySelector("#orders-split-1 .go")?.id === "cutover-split-1"`)
	b.until("its table is told", `document.getElementById("tables-split-1")?.textContent.includes("shop.test_order")`)
	b.obeysTheKeyboard()
	b.opensAgain("pause-split-1")
	b.phase("split-1", "paused")
	b.order("split-1", "resume")
	b.phase("split-1", "ready")
	b.repairsARow(d)
	b.order("split-1", "throttle", "10")
	b.until("it rests", `document.getElementById("job-split-1").textContent.includes("10 % of the time")`)
	b.order("split-1", "next_step", "40")
	share := func(want string) {
		t.Helper()
		b.until("its share is "+want, `document.getElementById("share-split-1").textContent === "`+want+`"`)
	}
	share("40 %")
	b.showsTheMap()
	b.part("moves")
	b.order("split-1", "rollback", "0")
	share("0 %")
	b.phase("split-1", "ready")
	b.order("split-1", "cutover", "100", "20", "6")
	b.until("the errors before and after are compared", `document.getElementById("fares-split-1")?.textContent.includes("p99")`)
	share("60 %")
	b.audit("moves")
	b.size(390, 844, "light")
	b.screenshot("cutting-390-light")
	b.size(1440, 900, "dark")
	b.screenshot("cutting-1440-dark")
	b.size(1440, 900, "light")
	share("100 %")
	b.phase("split-1", "cut")
	b.order("split-1", "finish")
	b.until("the move is over", `!document.getElementById("job-split-1") && document.getElementById("past-split-1")?.textContent.includes("done")`)
	b.press("#past-split-1 summary")
	b.until("its journal is read", `document.getElementById("past-split-1").textContent.includes("(dashboard)")`)
	if b.eval(`window.loadedOnce`) != "true" {
		t.Error("the page was loaded again")
	}
	journal := d.must("jobs", "split-1")
	for _, want := range []string{"pause", "resume", "throttle", "next step to 6554 of 16384 genes", "rollback to 0", "cutover to 16384 of 16384 genes, by 3277", "finish"} {
		if !strings.Contains(journal, d.HTTP.User+" (dashboard)  "+want) {
			t.Errorf("the journal lacks %q by the admin:\n%s", want, journal)
		}
	}
	b.tellsAll()
	b.advises(d)
	b.tellsOfAFrozenShard(d)
	orders.stop()
	b.drainsAProxy()
	d.isRefusedWithoutTheRole(b)
}

// isEmptyAtFirst checks the page of a cluster that nobody has used yet.
func (b *browser) isEmptyAtFirst() {
	b.t.Helper()
	for part, want := range map[string]string{"moves": "No job is under way", "generators": "None is declared", "map": "Genes", "doctor": "The slow checks"} {
		b.part(part)
		b.until(part+" says what it is", fmt.Sprintf(`document.querySelector("main").textContent.includes(%q)`, want))
	}
}

// begins begins a split by the form, with its preview.
func (b *browser) begins(from, to string) {
	b.t.Helper()
	b.part("moves")
	b.until("moves are proposed", `document.querySelectorAll("#even li").length > 0 || void document.getElementById("even-load").click()`)
	b.press("#even li button")
	b.until("the form is filled in", `document.getElementById("begin-kind").value === "genes" && document.getElementById("begin-genes").value.startsWith("0x")`)
	b.eval(`(() => { const e = document.getElementById("begin-kind"); e.value = "half"; e.dispatchEvent(new Event("change", {bubbles: true})); })()`)
	for field, value := range map[string]string{"from": from, "to": to} {
		b.eval(fmt.Sprintf(`(() => { const e = document.getElementById("begin-%s"); e.value = %q; e.dispatchEvent(new Event("change", {bubbles: true})); })()`, field, value))
	}
	b.write("#begin-why", "the dashboard's test")
	b.press("#begin-preview")
	b.until("the preview is there", `document.getElementById("plan")?.textContent.includes("16,384 genes") && document.getElementById("plan").textContent.includes("Nothing stands in its way")`)
	b.press("#begin-go")
	b.told()
}

// repairsARow changes a row of the target without the binary log, and repairs it with the page's button that takes the
// source's row.
func (b *browser) repairsARow(d *demo) {
	b.t.Helper()
	d.atShard(2, "SET SESSION sql_log_bin = 0", "UPDATE shop.test_order SET amount = amount + 1 LIMIT 1")
	if out, err := d.locus("verify", "split-1"); err == nil || !strings.Contains(out, "the servers differ in 1 row, such as") {
		b.t.Fatalf("verify split-1 with a row that differs: %v\n%s", err, out)
	}
	b.phase("split-1", "failed")
	b.until("both rows are there", `document.querySelectorAll("#differs-split-1 tbody td code").length === 2`)
	b.audit("rows that differ")
	b.screenshot("differs-1440-light")
	b.press(`#differs-split-1 button[id$="-source"]`)
	b.until("the dialog has both rows", `document.getElementById("ask").open && document.querySelectorAll("#ask dl.rows code").length === 2 && document.getElementById("ask-text").textContent.includes("The row at s2 is replaced by the one of s0.")`)
	b.press("#ask-yes")
	b.told()
	b.phase("split-1", "ready")
	if journal := d.must("jobs", "split-1"); !strings.Contains(journal, d.HTTP.User+" (dashboard)  repair: take source for 1 row") {
		b.t.Errorf("the journal lacks the repair:\n%s", journal)
	}
}

// showsTheMap checks the load of the genes in both scales, and at the width of a phone.
func (b *browser) showsTheMap() {
	b.t.Helper()
	b.part("map")
	b.until("three shards are drawn", `document.querySelectorAll("#legend li").length === 4`) // and the move
	b.until("the hottest are told", `document.querySelectorAll("#hottest tbody tr").length === 10`)
	b.eval(`document.querySelector("input[name=by][value=load]").click()`)
	b.until("the load is drawn", `document.getElementById("legend").textContent.includes("statements/s, logarithmic")`)
	b.screenshot("load-1440-light")
	b.eval(`document.querySelector("input[name=scale][value=linear]").click()`)
	b.until("the load is drawn", `document.getElementById("legend").textContent.includes("statements/s, linear")`)
	b.size(390, 844, "dark")
	b.screenshot("load-390-dark")
	b.size(1440, 900, "light")
	b.eval(`document.getElementById("picture").focus()`)
	b.key("ArrowDown")
	b.key("ArrowRight")
	b.until("the cell is told", `/0x[0-9a-f]{4}/.test(document.getElementById("cell").textContent)`)
}

// tellsAll opens all parts of the page, and audits each.
func (b *browser) tellsAll() {
	b.t.Helper()
	for part, want := range map[string]string{
		"overview": "Connections in use, by shard", "map": "The ten hottest genes", "statements": "INSERT INTO", "tables": "shop.test_order", "users": "dba", "routes": "s0 → s2",
		"generators": "NEXT VALUE FOR", "sessions": "End session", "timeline": "job", "doctor": "The slow checks ran",
	} {
		b.part(part)
		b.until(part+" tells "+want, fmt.Sprintf(`document.querySelector("main").textContent.includes(%q)`, want))
		b.audit(part)
	}
	b.explainsAStatement()
	b.opensATable()
	b.part("overview")
	b.screenshot("overview-1440-light")
	b.readsCurves()
	b.changesTheTheme()
	b.size(390, 844, "dark")
	b.screenshot("overview-390-dark")
	b.size(1440, 900, "light")
	second := b.eval(`document.querySelectorAll("#proxy option")[2].value`)
	b.eval(`(() => { const e = document.getElementById("proxy"); e.value = "` + second + `"; e.dispatchEvent(new Event("change", {bubbles: true})); })()`)
	b.until("the figures are those of a proxy that nobody uses", `document.querySelector("#cell-sessions .value").textContent === "0"`)
	b.eval(`(() => { const e = document.getElementById("proxy"); e.value = ""; e.dispatchEvent(new Event("change", {bubbles: true})); })()`)
	b.until("the figures are of all again", `document.querySelector("#cell-sessions .value").textContent !== "0"`)
}

// explainsAStatement opens the page of a statement, with its past, its users and the plans of the shards.
func (b *browser) explainsAStatement() {
	b.t.Helper()
	b.part("statements")
	b.write("#filter", "from test_order where")
	b.until("one statement is found", `document.querySelectorAll(".statements tbody tr").length > 0 && !document.querySelector(".statements").textContent.includes("INSERT")`)
	b.press(".statements tbody a.text")
	b.until("its page is opened", `location.hash.includes("digest=") || void document.querySelector(".statements tbody a.text")?.click()`) // the row may have moved below the mouse
	b.until("its page is there", `location.hash.includes("digest=") && document.getElementById("by-user")?.textContent.includes("app")`)
	b.until("its past is drawn", `document.querySelectorAll("#statement-past path.line").length >= 3`)
	b.eval(`(() => { const e = document.querySelector("[data-explain]"); e.value = e.value.replaceAll("?", "7"); e.dispatchEvent(new Event("input", {bubbles: true})); })()`)
	b.press("#explain-go")
	b.until("its plan is there", `document.getElementById("plan-answer")?.textContent.includes("possible_keys") && document.getElementById("plan-answer").textContent.includes("shards")`)
	b.audit("statement")
	b.screenshot("statement-1440-light")
	b.size(390, 844, "dark")
	b.screenshot("statement-390-dark")
	b.size(1440, 900, "light")
	b.press("#statement a")
	b.until("the list is there again", `document.getElementById("filter")?.value === ""`)
	b.screenshot("statements-1440-light")
}

// opensATable opens the page of a table, with its rows by shard, its declaration, its statements and its columns.
func (b *browser) opensATable() {
	b.t.Helper()
	b.part("tables")
	b.until("its size is there", `/[KM]iB/.test(document.getElementById("table-shop-test_order")?.textContent)`)
	b.screenshot("tables-1440-light")
	b.press("#table-shop-test_order a")
	b.until("its page is there", `document.querySelectorAll("#table .bars .value").length === 3 && document.getElementById("table").textContent.includes("CALL locus.table_add('shop.test_order'")`)
	b.until("its statements are there", `document.getElementById("table-statements").textContent.includes("INSERT INTO test_order")`)
	b.until("its columns are there", `document.getElementById("table-columns").textContent.includes("order_id")`)
	b.audit("table")
	b.screenshot("table-1440-light")
	b.size(390, 844, "dark")
	b.screenshot("table-390-dark")
	b.size(1440, 900, "light")
}

// changesTheTheme chooses another theme than the system's, which the browser keeps.
func (b *browser) changesTheTheme() {
	b.t.Helper()
	background := func() string { return b.eval(`getComputedStyle(document.documentElement).backgroundColor`) }
	light := background()
	choose := func(theme string) {
		b.eval(fmt.Sprintf(`(() => { const e = document.getElementById("theme"); e.value = %q; e.dispatchEvent(new Event("change", {bubbles: true})); })()`, theme))
	}
	choose("dark")
	if background() == light {
		b.t.Errorf("the theme dark is as light as %s", light)
	}
	choose("light")
	b.size(1440, 900, "dark")
	if got := background(); got != light {
		b.t.Errorf("the theme light is %s in a dark system, and %s in a light one", got, light)
	}
	choose("")
	if background() == light {
		b.t.Error("the system's theme is not followed")
	}
	b.size(1440, 900, "light")
}

// drainsAProxy drains the proxy that does not serve the page.
func (b *browser) drainsAProxy() {
	b.t.Helper()
	b.part("overview")
	b.press("#proxies tbody tr:last-child [data-act=drain]")
	b.until("the dialog says what is left", `document.getElementById("ask").open && document.getElementById("ask-text").textContent.includes("one of 2 proxies")`)
	b.press("#ask-yes")
	b.told()
	b.until("the proxy has gone", `document.querySelectorAll("#proxies tbody tr").length === 1`)
	b.press("#proxies tbody tr:last-child [data-act=drain]")
	b.until("the dialog says that it is the last one", `document.getElementById("ask-text").textContent.includes("the only proxy")`)
	b.key("Escape")
}

// readsCurves selects a part of the span with the mouse, and the logarithmic scale.
func (b *browser) readsCurves() {
	b.t.Helper()
	b.eval(`document.querySelector("input[name=curve-scale][value=logarithmic]").click()`)
	b.until("the axis has powers of ten", `/10 ?ms|1\.00 ?ms/.test(document.querySelector("#chart-latency .ticks").textContent)`)
	b.eval(`document.querySelector("input[name=curve-scale][value=linear]").click()`)
	b.drag("#chart-latency svg[data-chart]", 0.25, 0.75)
	b.until("a part is shown", `!!document.getElementById("range-all")`)
	b.press("#range-all")
	b.until("the whole span is shown", `!document.getElementById("range-all")`)
}

// advises sets a variable of a server that would stop a job. The cluster is healthy, and blue instead of green.
func (b *browser) advises(d *demo) {
	b.t.Helper()
	b.part("doctor")
	b.until("the cluster is green", `!!document.querySelector("#strip .verdict.good")`)
	set := func(image string) {
		d.atShard(1, "SET GLOBAL binlog_row_image = '"+image+"'")
		b.press("#look-again")
		b.told()
	}
	set("MINIMAL")
	b.until("the advice is there", `!!document.querySelector("#strip .verdict.advice") && document.title.startsWith("✓") && !!document.querySelector(".findings li.advice") && document.getElementById("main").textContent.includes("binlog_row_image")`)
	b.audit("advice")
	b.screenshot("advice-1440-light")
	b.size(390, 844, "dark")
	b.screenshot("advice-390-dark")
	b.size(1440, 900, "light")
	set("FULL")
	b.until("the cluster is green again", `!!document.querySelector("#strip .verdict.good")`)
}

// tellsOfAFrozenShard stops a shard's server under load, and continues it.
func (b *browser) tellsOfAFrozenShard(d *demo) {
	b.t.Helper()
	frozen := d.Shards[1]
	goOn := func() { _ = syscall.Kill(frozen.Pid, syscall.SIGCONT) }
	stopped := time.Now()
	if err := syscall.Kill(frozen.Pid, syscall.SIGSTOP); err != nil {
		b.t.Fatal(err)
	}
	defer goOn()
	says := func(words string) string {
		return fmt.Sprintf(`document.title.startsWith("▲ shard %[1]s is %[2]s") && document.getElementById("verdict").textContent.includes("shard %[1]s is %[2]s") && document.getElementById("cell-shards").textContent.includes("1 %[2]s")`, frozen.Name, words)
	}
	b.until("it is slow", says("slow")+" || "+says("frozen"))
	b.t.Logf("the page told of it after %v", time.Since(stopped).Round(10*time.Millisecond))
	b.until("it is frozen", says("frozen"))
	b.t.Logf("and called it frozen after %v", time.Since(stopped).Round(10*time.Millisecond))
	b.screenshot("frozen-1440-light")
	b.size(390, 844, "dark")
	b.screenshot("frozen-390-dark")
	b.size(1440, 900, "light")
	outages := func(what string) string {
		return `fetch("v1/events?kind=outage").then(r => r.json()).then(a => a.events.some(e => e.subject.includes("` + frozen.Name + `") && e.what.startsWith("` + what + `")))`
	}
	b.until("the outage is in the timeline", outages("outage began"))
	goOn()
	b.until("all is well again", `document.title.startsWith("✓")`)
	b.until("its end is in the timeline", outages("outage ended"))
}

// obeysTheKeyboard opens and leaves a dialog by keys alone. The focus stays where it is while
// numbers change.
func (b *browser) obeysTheKeyboard() {
	b.t.Helper()
	b.eval(`window.changes = 0; document.getElementById("pause-split-1").focus();
		new MutationObserver(() => window.changes++).observe(document.getElementById("strip"), {subtree: true, childList: true, characterData: true})`)
	b.until("numbers change", `window.changes > 3`)
	b.key("Enter")
	b.until("the dialog is open", `document.getElementById("ask").open && document.getElementById("ask").contains(document.activeElement)`)
	b.key("Escape")
	b.until("the button has the focus again", `!document.getElementById("ask").open && document.activeElement.id === "pause-split-1"`)
}

// opensAgain gives an order whose dialog is closed and opened again before the page has handled the close
// event.
func (b *browser) opensAgain(button string) {
	b.t.Helper()
	b.press("#" + button)
	b.until("the dialog is open", `document.getElementById("ask").open`)
	b.eval(fmt.Sprintf(`document.getElementById("ask").close(); document.getElementById(%q).click()`, button))
	b.press("#ask-yes")
	b.told()
}

// isRefusedWithoutTheRole logs in as a user who may only read.
func (d *demo) isRefusedWithoutTheRole(b *browser) {
	d.t.Helper()
	d.must("split", "--from", "s2", "--to", "s0", "--half")
	b.press(".who button")
	b.until("the login is asked for", `!!document.querySelector("#password")`)
	b.login(d.HTTP.URL, "viewer", secretOf(d.t, d.dir, "http-viewer"))
	b.part("moves")
	b.phase("split-2", "ready")
	if b.eval(`document.querySelectorAll("[data-order], [data-begin], #begin").length`) != "0" {
		d.t.Error("who may only look has buttons")
	}
	b.audit("what a viewer sees")
	const call = `fetch("v1/calls/pause", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({job: "split-2"})}).then(a => a.status)`
	if got := b.eval(call); got != "403" {
		d.t.Errorf("who may only look pauses a move: %s", got)
	}
	answer, err := http.Post(d.HTTP.URL+"/v1/calls/pause", "application/json", strings.NewReader(`{"job": "split-2"}`))
	if err != nil {
		d.t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusUnauthorized {
		d.t.Errorf("a stranger pauses a move: %s", answer.Status)
	}
}
