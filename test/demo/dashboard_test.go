//go:build long

package demo

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"locus/cmd/dbserver"
	"locus/test/product"
)

// TestTheDashboardInABrowser watches a split from 0 to 100 % and drives it, by
// pressing what is there to be pressed. The page is never loaded again.
func TestTheDashboardInABrowser(t *testing.T) {
	d := start(t, dbserver.MariaDB, t.TempDir(), "--orders-per-second", "0")
	orders := work(t, d.db(), 1)
	product.Eventually(t, "there are some orders", func() bool { return orders.inserted.Load() > 200 || orders.failure.Load() != nil })

	b := openBrowser(t)
	b.size(1440, 900, "light")
	b.open(d.HTTP.URL)
	b.screenshot("login-1440-light")
	b.login(d.HTTP.URL, d.HTTP.User, d.HTTP.Password)
	b.eval(`window.loadedOnce = true`)
	b.until("three shards are drawn", `document.querySelectorAll("#legend li").length === 3`)
	b.until("what the orders cost is told", `parseInt(document.getElementById("per-second").textContent.replace(",", "")) > 10`)

	d.query("SELECT CONCAT(SLEEP(1), 's3cret')")
	b.until("the slow statement is told", `document.getElementById("slow").textContent.includes("SELECT CONCAT(SLEEP(?), ?)")`)

	d.must("split", "--from", "s0", "--to", "s2", "--half", "--why", "the dashboard's test")
	b.phase("split-1", "ready")
	b.until("its table is told", `document.getElementById("tables-split-1")?.textContent.includes("shop.test_order")`)
	b.obeysTheKeyboard()
	b.order("split-1", "pause", "")
	b.phase("split-1", "paused")
	b.order("split-1", "resume", "")
	b.phase("split-1", "ready")
	b.order("split-1", "next-step", "40")
	share := func(want string) {
		t.Helper()
		b.until("its share is "+want, `document.getElementById("share-split-1").textContent === "`+want+`"`)
	}
	share("40 %")
	b.eval(`document.querySelector("input[name=by][value=load]").click()`)
	b.until("the load is drawn", `document.getElementById("legend").textContent.includes("statements/s")`)
	b.screenshot("load-1440-light")
	b.size(390, 844, "dark")
	b.screenshot("load-390-dark")
	if wide := b.eval(`document.documentElement.scrollWidth`); wide != "390" {
		t.Errorf("at 390 pixels the page is %s wide", wide)
	}
	if tall := b.eval(`Math.max(...Array.from(document.querySelectorAll("th"), e => e.offsetHeight))`); len(tall) > 2 {
		t.Errorf("at 390 pixels the head of a column is %s high", tall)
	}
	b.size(1440, 900, "light")
	b.eval(`document.querySelector("input[name=by][value=shard]").click()`)
	b.order("split-1", "rollback", "0")
	share("0 %")
	b.phase("split-1", "ready")
	d.must("cutover", "split-1", "--to", "100%", "--step", "20%", "--every", "2s", "--yes")
	b.until("the errors before and after are compared", `document.getElementById("fares-split-1")?.textContent.includes("p99")`)
	share("60 %")
	b.size(390, 844, "light")
	b.screenshot("cutting-390-light")
	b.size(1440, 900, "dark")
	b.screenshot("cutting-1440-dark")
	b.size(1440, 900, "light")
	b.order("split-1", "next-step", "100")
	share("100 %")
	b.phase("split-1", "cut")
	b.order("split-1", "finish", "")
	b.until("the move is over", `!document.getElementById("job-split-1") && document.getElementById("past").textContent.includes("done")`)
	if b.eval(`window.loadedOnce`) != "true" {
		t.Error("the page was loaded again")
	}
	journal := d.must("jobs", "split-1")
	for _, want := range []string{"pause", "resume", "next step to 6554 of 16384 genes", "rollback to 0", "finish"} {
		if !strings.Contains(journal, d.HTTP.User+" (dashboard)  "+want) {
			t.Errorf("the journal lacks %q by the admin:\n%s", want, journal)
		}
	}
	orders.stop()
	if failure := orders.failure.Load(); failure != nil {
		t.Error(*failure)
	}
	d.isRefusedWithoutTheRole(b)
}

// obeysTheKeyboard opens and leaves a dialog, and goes through the picture, by keys alone. The
// focus stays where it is while numbers change.
func (b *browser) obeysTheKeyboard() {
	b.t.Helper()
	b.eval(`window.changes = 0; document.getElementById("pause-split-1").focus();
		new MutationObserver(() => window.changes++).observe(document.getElementById("moves"), {subtree: true, childList: true, characterData: true})`)
	b.until("numbers change", `window.changes > 3`)
	b.key("Enter")
	b.until("the dialog is open", `document.getElementById("ask").open && document.getElementById("ask").contains(document.activeElement)`)
	b.key("Escape")
	b.until("the button has the focus again", `!document.getElementById("ask").open && document.activeElement.id === "pause-split-1"`)
	b.eval(`document.getElementById("picture").focus()`)
	b.key("ArrowDown")
	b.key("ArrowRight")
	b.until("the cell is told", `/0x[0-9a-f]{4}/.test(document.getElementById("cell").textContent)`)
}

// isRefusedWithoutTheRole logs in as somebody who may only look.
func (d *demo) isRefusedWithoutTheRole(b *browser) {
	d.t.Helper()
	d.must("split", "--from", "s2", "--to", "s0", "--half")
	b.press("nav button")
	b.until("the login is asked for", `!!document.querySelector("#password")`)
	b.login(d.HTTP.URL, "viewer", secretOf(d.t, d.dir, "http-viewer"))
	b.phase("split-2", "ready")
	if b.eval(`document.querySelectorAll("button[data-order]").length`) != "0" {
		d.t.Error("who may only look has buttons")
	}
	if got := b.eval(`fetch("jobs/split-2/pause", {method: "POST"}).then(a => a.status)`); got != "403" {
		d.t.Errorf("who may only look pauses a move: %s", got)
	}
	answer, err := http.PostForm(d.HTTP.URL+"/jobs/split-2/pause", url.Values{})
	if err != nil {
		d.t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusUnauthorized {
		d.t.Errorf("a stranger pauses a move: %s", answer.Status)
	}
}
