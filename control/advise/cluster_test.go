package advise

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"locus/proxy/meter"
	"locus/router/cluster"
)

const clusterFile = `schema: 1
settings: {default_shard: home}
shards:
  east: {address: "127.0.0.1:1", user: locus, secret: s}
  home: {address: "127.0.0.1:2", user: locus, secret: s}
  spare: {address: "127.0.0.1:3", user: locus, secret: s}
tables:
  db.users: {kind: sharded, owner: id}
  db.orders: {kind: sharded, owner: user_id}
  db.audit: {kind: single, shard: spare}
routes: |
  0x7fff east
  0xffff home
`

// The report covers the statements that proxies have counted on declared tables, which stay as they are. Undeclared tables get a proposal.
func TestCluster(t *testing.T) {
	c, err := cluster.Parse([]byte(clusterFile))
	if err != nil {
		t.Fatal(err)
	}
	s, w := readFixture(t, "shop.schema"), NewWorkload()
	since := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	w.Counted(meter.Report{Since: since, At: since.Add(12 * time.Hour), Others: meter.Figures{Count: 7}, Digests: []meter.Figures{
		{Text: "SELECT * FROM users WHERE id = ?", Database: "db", Count: 1000, TotalMs: 1000},
		{Text: "SELECT id FROM orders WHERE id = ?", Database: "db", Count: 600, TotalMs: 9000},
		{Text: "SELECT p.name FROM orders o JOIN products p ON p.id = o.id WHERE o.user_id = ?", Database: "db", Count: 400, TotalMs: 500},
		{Text: "SELECT name FROM users WHERE id IN (?)", Database: "db", Count: 8, Several: 2, TotalMs: 1},
		{Text: "SELECT what FROM audit", Database: "db", Count: 10, TotalMs: 1},
		{Text: "SELECT a FROM orders WHERE b = ? AND …", Database: "db", Count: 2, TotalMs: 1},
		{Text: meter.Others, Count: 5},
	}}, 3)
	o := Options{Shards: 2, Cluster: NewCluster(c)}
	p, r := reported(t, s, w, o)
	for name, want := range map[string]string{"db.users": "owner=id", "db.orders": "owner=user_id", "db.audit": "shard=spare", "db.products": "global"} {
		if p.Tables[name] == nil || p.Tables[name].Declare != want {
			t.Errorf("%s: %+v, want %s", name, p.Tables[name], want)
		}
	}
	ways := map[string]string{}
	for _, d := range r.Digests {
		if strings.Contains(d.Statement, "IN (?)") && (d.Ways["owner"] != 75 || d.Ways["some"] != 25) {
			t.Errorf("%s: %v", d.Statement, d.Ways)
		}
		ways[d.Statement] = string(d.worst())
	}
	for text, want := range map[string]string{
		"SELECT * FROM users WHERE id = ?": "owner", "SELECT id FROM orders WHERE id = ?": "all", "SELECT what FROM audit": "single",
		"SELECT p.name FROM orders o JOIN products p ON p.id = o.id WHERE o.user_id = ?": "owner",
	} {
		if ways[text] != want {
			t.Errorf("%s: %s, want %s", text, ways[text], want)
		}
	}
	if w.Others != 12 || len(w.Notes) != 1 || !strings.HasPrefix(w.Notes[0], "2 statements were not planned") {
		t.Errorf("%d others, %q", w.Others, w.Notes)
	}
	if got, want := r.Summary(), "Rows of all shards are needed by 1 digest, 1,200 times a day. Most of them would need one shard if they named orders.user_id."; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var out bytes.Buffer
	r.Print(&out)
	for _, want := range []string{"1,200 times a day (29.7 %): all shards are asked", "locus import db.products global --dry-run"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "import db.users") {
		t.Errorf("a declared table is imported:\n%s", out.String())
	}
}
