package demo

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"locus/cmd/dbserver"
	"locus/test/product"
)

// overview is the output of `locus status -o json`.
type overview struct {
	Well     bool
	Problems int
	Shards   []struct{ Name, State, Problem string }
}

// status queries the cluster once. The exit status is 0 if the cluster is healthy, even if there is advice.
func (d *demo) status(args ...string) (o overview) {
	d.t.Helper()
	out, err := d.locus(append([]string{"status", "-o", "json", "--fail-on", "at-risk"}, args...)...)
	if jsonErr := json.Unmarshal([]byte(out), &o); jsonErr != nil || o.Well != (err == nil) {
		d.t.Fatalf("locus status: %v, %v\n%s", err, jsonErr, out)
	}
	return o
}

// TestAFrozenShardIsTold stops one of two shards' servers, as a new user might try it. Statements that need it
// fail with its name, others succeed, and everything that an operator reads reports it, until it continues.
func TestAFrozenShardIsTold(t *testing.T) {
	d := start(t, dbserver.MariaDB, t.TempDir(), "--orders-per-second", "0", "--proxies", "2")
	d.costs()
	if o := d.status(); !o.Well {
		t.Fatalf("before: %+v", o)
	}
	frozen := d.Shards[1]
	if err := syscall.Kill(frozen.Pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	goOn := func() { _ = syscall.Kill(frozen.Pid, syscall.SIGCONT) }
	defer goOn()
	for _, how := range []string{"--quick", ""} {
		product.Eventually(t, "locus status "+how+" tells of it", func() bool {
			args := []string{how}
			if how == "" {
				args = nil
			}
			o := d.status(args...)
			return !o.Well && o.Shards[0].State == "well" && o.Shards[1].State == "frozen" && strings.Contains(o.Shards[1].Problem, "frozen")
		})
	}
	var page struct {
		Well   bool
		Worst  string
		Shards []struct{ State string }
	}
	product.Eventually(t, "the state over HTTP tells of it", func() bool {
		d.ask("/v1/state", "", &page)
		return !page.Well && page.Worst == "shard "+frozen.Name+" is frozen" && page.Shards[1].State == "frozen"
	})
	if out, err := d.locus("doctor"); err == nil || !strings.Contains(out, frozen.Name+" at "+frozen.Addr) {
		t.Errorf("doctor: %v\n%s", err, out)
	}
	if got := d.query("SELECT COUNT(*) FROM locus.servers WHERE state = 'frozen' AND shard = '" + frozen.Name + "'"); got != "2" {
		t.Errorf("%s proxies say in locus.servers that it is frozen, want 2", got)
	}
	d.query("SELECT 1")
	d.query("SELECT COUNT(*) FROM test_order WHERE buyer_uid = 42")
	var n int
	if err := d.db().QueryRow("SELECT COUNT(*) FROM test_order").Scan(&n); err == nil || !strings.Contains(err.Error(), frozen.Name) {
		t.Errorf("a count over all shards: %d, %v", n, err)
	}
	goOn()
	product.Eventually(t, "all is well again", func() bool { return d.status("--quick").Well })
	d.query("SELECT COUNT(*) FROM test_order")
}

// costs reads the costs of statements at one proxy while another proxy counts them too, and resets them.
func (d *demo) costs() {
	d.t.Helper()
	for i := range 2 {
		for range 3 {
			var n int
			if err := d.dbAt(i).QueryRow("SELECT COUNT(*) + 7 FROM test_order WHERE buyer_uid = 42").Scan(&n); err != nil || n != 7 {
				d.t.Fatalf("%d, %v", n, err)
			}
		}
	}
	counted := func() string {
		return d.query("SELECT COALESCE(SUM(count), 0) FROM locus.statements WHERE statement LIKE 'SELECT COUNT(%) + ? FROM%test_order%'")
	}
	product.Eventually(d.t, "both proxies' statements are in locus.statements", func() bool { return counted() == "6" })
	if out := d.must("top", "--once"); !strings.Contains(out, "2 proxies") {
		d.t.Errorf("top:\n%s", out)
	}
	if _, err := d.asDBA(d.dir).db.Exec("TRUNCATE TABLE locus.statements"); err != nil {
		d.t.Fatal(err)
	}
	product.Eventually(d.t, "all proxies begin anew", func() bool { return counted() == "0" })
}
