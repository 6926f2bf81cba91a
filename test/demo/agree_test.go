//go:build long

package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"locus/cmd/dbserver"
	"locus/config/etcd"
	"locus/test/product"
)

// broken is one thing that is broken and healed again. want is a part of the finding: its check, severity and text.
type broken struct {
	name        string
	check       string
	severity    string
	broke, heal func()
}

// TestAllTellTheSame breaks twelve things one after the other. locus doctor, locus status, the state over HTTP, the list of findings, the
// metrics and the exit statuses show the same findings each time, and again none that was not there before.
func TestAllTellTheSame(t *testing.T) {
	d := start(t, dbserver.MariaDB, t.TempDir(), "--orders-per-second", "0", "--proxies", "2")
	db := d.db()
	for i := range 40 {
		if _, err := db.Exec("INSERT INTO test_order (buyer_uid, amount, status) VALUES (?, ?, 'new')", i, i); err != nil {
			t.Fatal(err)
		}
	}
	d.must("split", "--from", "s0", "--to", "s2", "--half")
	d.until("ready", 0)
	on := func(shard int, statements ...string) func() {
		return func() { d.atShard(shard, append([]string{"SET SESSION sql_log_bin = 0"}, statements...)...) }
	}
	at := func(shard int, name, other string) (broke, heal func()) {
		var before string
		return func() {
				if err := d.shard(shard).QueryRow("SELECT @@GLOBAL." + name).Scan(&before); err != nil {
					t.Fatal(err)
				}
				on(shard, "SET GLOBAL "+name+" = "+other)()
			}, func() {
				if regexp.MustCompile(`^[A-Z]+$`).MatchString(before) {
					before = "'" + before + "'"
				}
				on(shard, "SET GLOBAL "+name+" = "+before)()
			}
	}
	variable := func(shard int, name, other, check, severity string) broken {
		broke, heal := at(shard, name, other)
		return broken{name, check, severity, broke, heal}
	}
	client, err := etcd.Open(etcd.Config{Endpoints: d.Etcd})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	document := func(change etcd.Write) func() {
		return func() {
			if _, err := client.Under("/locus/main/").Commit(t.Context(), nil, change); err != nil {
				t.Fatal(err)
			}
		}
	}
	frozen := d.Shards[1].Pid
	signal := func(s syscall.Signal) func() {
		return func() {
			if err := syscall.Kill(frozen, s); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Cleanup(func() { _ = syscall.Kill(frozen, syscall.SIGCONT) })
	before := d.agree("at first", func(map[string]string) bool { return true })
	for _, b := range []broken{
		{"a frozen server", "servers", "outage", signal(syscall.SIGSTOP), signal(syscall.SIGCONT)},
		variable(0, "read_only", "1", "servers", "outage"),
		variable(0, "innodb_flush_log_at_trx_commit", "0", "durability", "at-risk"),
		variable(1, "sync_binlog", "0", "durability", "at-risk"),
		variable(1, "max_connections", "30", "connections", "at-risk"),
		variable(1, "binlog_row_image", "'MINIMAL'", "log", "advice"),
		{"a column on one shard", "schemas", "", on(1, "ALTER TABLE shop.test_order ADD COLUMN more INT"), on(1, "ALTER TABLE shop.test_order DROP COLUMN more")},
		{"a table that is missing", "schemas", "", on(1, "RENAME TABLE shop.product TO shop.product_away"), on(1, "RENAME TABLE shop.product_away TO shop.product")},
		{"a row on a wrong shard", "rows", "outage", on(1, "INSERT INTO shop.test_order (order_id, buyer_uid, amount, status) SELECT 1, 42, 1, 'new'"), on(1, "DELETE FROM shop.test_order WHERE order_id = 1")},
		{"a unique key", "schemas", "advice", d.onAll(on, "ALTER TABLE shop.test_order ADD UNIQUE KEY one (amount)"), d.onAll(on, "ALTER TABLE shop.test_order DROP KEY one")},
		{"a job that has failed", "moves", "at-risk", func() {
			on(2, "UPDATE shop.test_order SET amount = amount + 1 LIMIT 1")()
			if out, err := d.locus("verify", "split-1"); err == nil {
				t.Fatalf("verify: %s", out)
			}
		}, func() { d.must("repair", "split-1", "--take", "source", "--yes"); d.until("ready", 0) }},
		{"a document that can't be used", "documents", "", document(etcd.Put("declared/tables/shop.broken", []byte("{"))), document(etcd.Delete("declared/tables/shop.broken"))},
	} {
		b.broke()
		d.agree(b.name, func(found map[string]string) bool {
			for key, severity := range found {
				if _, old := before[key]; !old && strings.HasPrefix(key, b.check+" ") && (b.severity == "" || severity == b.severity) {
					return true
				}
			}
			return false
		})
		b.heal()
		d.agree("after "+b.name, func(found map[string]string) bool { return maps.Equal(found, before) })
	}
}

// onAll returns a function that runs a statement on all shards.
func (d *demo) onAll(on func(int, ...string) func(), statement string) func() {
	return func() {
		for i := range d.Shards {
			on(i, statement)()
		}
	}
}

// told contains the values that one of the tools shows.
type told struct {
	Severity string
	Outages  int
	AtRisk   int `json:"at_risk"`
	Advice   int
	Findings []struct{ Check, Where, Severity string }
}

// found returns the severities by check and place.
func (f told) found() map[string]string {
	all := map[string]string{}
	for _, one := range f.Findings {
		all[one.Check+" "+one.Where] += one.Severity
	}
	return all
}

// agree waits until all tools show the same findings, which are as wanted. It returns them.
func (d *demo) agree(what string, wanted func(map[string]string) bool) (found map[string]string) {
	d.t.Helper()
	last := ""
	defer func() {
		if d.t.Failed() {
			d.t.Log(last)
		}
	}()
	product.Eventually(d.t, what+": all tools show it", func() bool {
		doctor, exit := d.tells("doctor")
		status, alike := d.tells("status")
		d.ask("/v1/findings", "{}", new(map[string]any)) // the page's button "Check again"
		var state told
		var list struct {
			Findings []struct{ Check, Where, Severity string }
		}
		d.ask("/v1/state", "", &state)
		d.ask("/v1/findings", "", &list)
		metrics := d.metrics()
		found = doctor.found()
		counts := fmt.Sprint(doctor.Outages, doctor.AtRisk, doctor.Advice)
		worst := map[string]int{"none": 0, "advice": 3, "at-risk": 4, "outage": 5}[doctor.Severity]
		last = fmt.Sprintf("%s\ndoctor %v, exit %d\nstatus %v, exit %d\nstate %v %s\nfindings %v\nmetrics %s", what, found, exit, status.found(), alike, state.found(), state.Severity, list.Findings, metrics)
		return wanted(found) && maps.Equal(found, status.found()) && maps.Equal(found, state.found()) && maps.Equal(found, told{Findings: list.Findings}.found()) &&
			exit == worst && alike == worst && state.Severity == doctor.Severity && status.Severity == doctor.Severity &&
			counts == fmt.Sprint(state.Outages, state.AtRisk, state.Advice) && counts == metrics
	})
	return found
}

// tells runs a command, and returns the values that it shows and its exit status.
func (d *demo) tells(command string) (f told, exit int) {
	d.t.Helper()
	out, err := d.locus(command, "-o", "json")
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		exit = failed.ExitCode()
	}
	if err := json.Unmarshal([]byte(out), &f); err != nil {
		d.t.Fatalf("locus %s: %v\n%s", command, err, out)
	}
	return f, exit
}

// metrics returns the numbers of findings by severity, the most severe first.
func (d *demo) metrics() string {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, d.HTTP.URL+"/metrics", nil)
	if err != nil {
		d.t.Fatal(err)
	}
	r.SetBasicAuth(d.HTTP.User, d.HTTP.Password)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	var counts []string
	for _, severity := range []string{"outage", "at-risk", "advice"} {
		if m := regexp.MustCompile(`(?m)^locus_findings\{severity="` + severity + `"\} (\d+)$`).FindSubmatch(text); m != nil {
			counts = append(counts, string(m[1]))
		}
	}
	return strings.Join(counts, " ")
}
