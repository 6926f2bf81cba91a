package demo

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locus/cmd/dbserver"
	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/test/product"
)

// visits is the number of rows in the table of a plain server. Most of them are of one buyer.
const visits, visitsOf42 = 600, 400

// plain starts an ordinary server with a table that clients use there.
func (d *demo) plain(engine dbserver.Engine) (addr string, db *sql.DB) {
	d.t.Helper()
	installation, err := dbserver.Find(d.t.Context(), engine, "")
	if err != nil {
		d.t.Fatal(err)
	}
	s, err := dbserver.Start(d.t.Context(), installation, dbserver.Options{Dir: filepath.Join(d.t.TempDir(), "plain"), BufferPool: 64 << 20})
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = s.Kill() })
	const password = "plain-9c1f"
	if err := s.CreateUser(d.t.Context(), dbserver.User{Name: "mover", Password: password}); err != nil {
		d.t.Fatal(err)
	}
	secret := filepath.Join(d.dir, "secrets", "outside", "old")
	if err := os.MkdirAll(filepath.Dir(secret), 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(secret, []byte(password), 0o600); err != nil {
		d.t.Fatal(err)
	}
	if db, err = sql.Open("mysql", fmt.Sprintf("mover:%s@tcp(%s)/", password, s.Addr())); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = db.Close() })
	rows := make([]string, visits)
	for i := range rows {
		buyer := int64(42)
		if i >= visitsOf42 {
			buyer = int64(i)
		}
		rows[i] = fmt.Sprintf("(%d, %d, 'page %d')", visitOf(d.t, buyer, i+1), buyer, i)
	}
	for _, query := range []string{
		"CREATE DATABASE shop",
		"CREATE TABLE shop.visit (visit_id BIGINT NOT NULL PRIMARY KEY, buyer_uid BIGINT NOT NULL, page VARCHAR(40) NOT NULL, KEY (buyer_uid))",
		"INSERT INTO shop.visit VALUES " + strings.Join(rows, ", "),
	} {
		if _, err := db.Exec(query); err != nil {
			d.t.Fatal(err)
		}
	}
	return s.Addr(), db
}

// visitOf returns an ID that contains the gene of its buyer.
func visitOf(t *testing.T, buyer int64, sequence int) int64 {
	t.Helper()
	layout, err := orderid.ByName("int64")
	if err != nil {
		t.Fatal(err)
	}
	id, err := layout.Compose(gene.OfInt(buyer, gene.W16), 0, orderid.Seq(uint64(sequence)))
	if err != nil {
		t.Fatal(err)
	}
	return int64(id.Lo)
}

// importsVisits imports the plain server's table by commands: there, back, there again, and to the end. A
// client writes on the side that is in use.
func (d *demo) importsVisits(engine dbserver.Engine, proxy *sql.DB) {
	d.t.Helper()
	addr, there := d.plain(engine)
	from := []string{"shop.visit", "owner=buyer_uid", "id=visit_id", "--from", "mover@" + addr, "--secret", "outside/old"}
	if out := d.must(append([]string{"import", "--dry-run"}, from...)...); !strings.Contains(out, "no obstacles") || !strings.Contains(out, "tables are locked at "+addr) {
		d.t.Errorf("locus import --dry-run:\n%s", out)
	}
	if out := d.must(append([]string{"import"}, from...)...); !strings.Contains(out, "job import-1: import of shop.visit from "+addr+" to s0, s1") {
		d.t.Errorf("locus import:\n%s", out)
	}
	d.must("wait", "import-1", "--for", "ready")
	product.Eventually(d.t, "locus watch shows all rows", func() bool { // a mover reports each second
		out := d.must("watch", "import-1", "--once")
		return strings.Contains(out, "import-1  ready  outside → s0,s1") && strings.Contains(out, "100 %  600 rows")
	})
	if _, err := proxy.Exec("SELECT 1 FROM visit"); err == nil || !strings.Contains(err.Error(), "outside of the cluster") {
		d.t.Errorf("before the cutover a client is told: %v", err)
	}
	sharded := func() {
		d.t.Helper()
		d.must("cutover", "import-1", "--yes")
		d.must("wait", "import-1", "--for", "cut")
		product.Eventually(d.t, "the proxy knows the table", func() bool {
			var n int
			return proxy.QueryRow("SELECT COUNT(*) FROM visit").Scan(&n) == nil
		})
	}
	sharded()
	d.have(proxy, visits, "SELECT COUNT(*) FROM visit")
	if _, err := proxy.Exec("INSERT INTO visit (buyer_uid, page) VALUES (42, 'new')"); err != nil {
		d.t.Fatal(err)
	}
	d.must("rollback", "import-1", "--yes")
	d.must("wait", "import-1", "--for", "ready")
	d.have(there, visits+1, "SELECT COUNT(*) FROM shop.visit")
	if _, err := there.Exec("UPDATE shop.visit SET page = 'seen' WHERE buyer_uid = 42"); err != nil {
		d.t.Fatal(err)
	}
	sharded()
	d.must("finish", "import-1", "--yes")
	d.must("wait", "import-1", "--for", "done")
	d.have(proxy, visits+1, "SELECT COUNT(*) FROM visit")
	d.have(proxy, visitsOf42+1, "SELECT COUNT(*) FROM visit WHERE buyer_uid = 42 AND page = 'seen'")
	d.have(there, visits+1, "SELECT COUNT(*) FROM shop.visit")
}

// have compares a count on a connection with the expected one.
func (d *demo) have(db *sql.DB, want int, query string) {
	d.t.Helper()
	var n int
	if err := db.QueryRow(query).Scan(&n); err != nil || n != want {
		d.t.Errorf("%s: %d, want %d; %v", query, n, want, err)
	}
}
