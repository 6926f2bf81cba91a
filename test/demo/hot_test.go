package demo

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"locus/cmd/dbserver"
	"locus/internal/test/servers"
)

// divided checks a gene whose rows are divided between two shards, and inserts rows for each of the hundred
// residues.
func (d *demo) divided(db *sql.DB) {
	d.t.Helper()
	if _, err := db.Exec("INSERT INTO test_order (buyer_uid, amount) VALUES (42, 1)" + strings.Repeat(", (42, 1)", 99)); err != nil {
		d.t.Fatal(err)
	}
	if got := d.query("SELECT COUNT(*) FROM test_order WHERE buyer_uid = 42"); got != "102" {
		d.t.Errorf("%s orders of the buyer while they are on two shards", got)
	}
	if got := d.query("SELECT CONCAT_WS(' ', shard, target, target_percent) FROM locus.routes WHERE first_gene = '0x3eab'"); got != "s0 s2 35" {
		d.t.Errorf("the route of the gene is %s", got)
	}
	for _, told := range []string{
		explain(d.t, db, "EXPLAIN SELECT * FROM test_order WHERE buyer_uid = 42"), d.must("gene", "42"), d.must("routes", "show"),
	} {
		if !strings.Contains(told, "by sequence") || !strings.Contains(told, "s2") {
			d.t.Errorf("nothing of two shards is told:\n%s", told)
		}
	}
	if out, err := d.locus("split", "--from", "s0", "--to", "s1", "--genes", "0x3eab"); err == nil || !strings.Contains(out, "another job moves genes 0x3eab") {
		d.t.Errorf("a second job on the gene: %v\n%s", err, out)
	}
	if out, err := d.locus("split", "--from", "s0", "--to", "s1", "--genes", "0x2000-0x2010", "--by", "sequence"); err == nil || !strings.Contains(out, "16 at most") {
		d.t.Errorf("many genes by sequence: %v\n%s", err, out)
	}
}

// TestHotGenesAreFoundAndMoved gives one buyer most of the load, and finds the buyer with the counts of two
// proxies. Then a table of a plain server is imported, and the buyer's rows are divided.
func TestHotGenesAreFoundAndMoved(t *testing.T) {
	servers.Mostly(t, servers.MariaDB, func(t *testing.T, engine servers.Engine) {
		t.Parallel() // the test waits more than it works
		d := start(t, engine, t.TempDir(), "--orders-per-second", "0", "--proxies", "2")
		d.findsHot()
		d.importsVisits(engine, d.db())
		d.movesHot(engine)
	})
}

// findsHot checks that the buyer is found, and what is proposed.
func (d *demo) findsHot() {
	d.t.Helper()
	t := d.t
	first, second := d.db(), d.dbAt(1)
	if _, err := first.Exec("INSERT INTO test_order (buyer_uid, amount) VALUES (42, 1), (42, 2), (1, 3), (10001, 4)"); err != nil {
		t.Fatal(err)
	}
	for n := range 100 {
		db := first
		if n%2 == 1 {
			db = second
		}
		var total float64
		for buyer := range map[int]bool{42: true, 42 + n*1000: true} {
			if err := db.QueryRow("SELECT COALESCE(SUM(amount), 0) FROM test_order WHERE buyer_uid = ?", buyer).Scan(&total); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := db.Exec("UPDATE test_order SET amount = amount + 1 WHERE buyer_uid = 42"); err != nil {
			t.Fatal(err)
		}
	}
	var hot struct {
		Proxies int
		Genes   []struct {
			Gene, Shard string
			Owners      []struct{ Owner, Rows string }
		}
	}
	if err := json.Unmarshal([]byte(d.must("hot", "--owners", "--top", "3", "-o", "json")), &hot); err != nil {
		t.Fatal(err)
	}
	if hot.Proxies != 2 || len(hot.Genes) != 3 || hot.Genes[0].Gene != "0x3eab" || hot.Genes[0].Shard != "s0" || len(hot.Genes[0].Owners) == 0 || hot.Genes[0].Owners[0].Owner != "42" {
		t.Fatalf("hot: %+v", hot)
	}
	out := d.must("split", "--from", "s0", "--to", "s2", "--hottest", "--dry-run")
	if !strings.Contains(out, "1 gene from s0 to s2: 0x3eab") || !strings.Contains(out, "statements/s on s0") {
		t.Errorf("split --hottest --dry-run:\n%s", out)
	}
	out = d.must("rebalance", "--dry-run")
	if !strings.Contains(out, "SHARD") || !strings.Contains(out, "0x3eab") {
		t.Errorf("rebalance --dry-run:\n%s", out)
	}
	if out, err := d.locus("rebalance"); err == nil || !strings.Contains(out, "nothing was changed") {
		t.Errorf("rebalance without an answer: %v\n%s", err, out)
	}
	if jobs := d.must("jobs", "-o", "json"); strings.TrimSpace(jobs) != "[]" {
		t.Errorf("jobs after proposals: %s", jobs)
	}
	out = d.must("rebalance", "--by", "rows", "--onto", "s0,s1", "--dry-run")
	if !strings.Contains(out, "ROWS") {
		t.Errorf("rebalance --by rows:\n%s", out)
	}
}

// movesHot divides the rows of the hottest gene, brings them back, and moves them.
func (d *demo) movesHot(engine dbserver.Engine) {
	d.t.Helper()
	db := d.db()
	if _, err := db.Exec("DELETE FROM test_order WHERE buyer_uid = 42 AND amount < 0 ORDER BY amount + 1 LIMIT 1"); err != nil {
		d.t.Fatal(err)
	}
	if engine == dbserver.MySQL {
		d.dividesBySQL()
	} else {
		out := d.must("split", "--from", "s0", "--to", "s2", "--hottest", "40%", "--by", "sequence")
		if !strings.Contains(out, "job split-2: split of the rows of 1 gene from s0 to s2, by sequence: 0x3eab") || !strings.Contains(out, "LIMIT ?: it has ORDER BY and LIMIT") {
			d.t.Errorf("split --hottest:\n%s", out)
		}
	}
	d.must("wait", "split-2", "--for", "ready")
	d.must("cutover", "split-2", "--to", "35%", "--yes")
	d.comes("split-2", "cutting", 35)
	d.divided(db)
	for _, percent := range []float64{0, 100} {
		if percent == 0 {
			d.must("rollback", "split-2", "--yes")
			d.must("wait", "split-2", "--for", "ready")
		} else {
			d.must("cutover", "split-2", "--yes")
			d.must("wait", "split-2", "--for", "cut")
		}
		d.comes("split-2", map[float64]string{0: "ready", 100: "cut"}[percent], percent)
		d.have(db, 102, "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 42")
		d.have(db, visitsOf42+1, "SELECT COUNT(*) FROM visit WHERE buyer_uid = 42")
		d.have(db, visits+1, "SELECT COUNT(*) FROM visit")
	}
	d.must("finish", "split-2", "--yes")
	d.must("wait", "split-2", "--for", "done")
	d.have(db, visitsOf42+1, "SELECT COUNT(*) FROM visit WHERE buyer_uid = 42")
	if explained := explain(d.t, db, "EXPLAIN SELECT * FROM test_order WHERE buyer_uid = 42"); !strings.Contains(explained, "s2") {
		d.t.Errorf("the buyer's orders are read as\n%s", explained)
	}
	for shard, want := range []int{0, 0, visitsOf42 + 1} {
		d.have(d.shard(shard), want, "SELECT COUNT(*) FROM visit WHERE buyer_uid = 42")
	}
}

// dividesBySQL starts the job with a CALL. Its warnings list the statements that will be refused.
func (d *demo) dividesBySQL() {
	d.t.Helper()
	dba := d.asDBA(d.dir).db
	dba.SetMaxOpenConns(1)
	if _, err := dba.Exec("CALL locus.split('s0', 's2', '0x3eab', NULL, 'halves')"); err == nil || !strings.Contains(err.Error(), `a split by "halves" is unknown; use gene or sequence`) {
		d.t.Errorf("split by halves: %v", err)
	}
	var id, phase, percent, told string
	if err := dba.QueryRow("CALL locus.split('s0', 's2', '0x3eab', NULL, 'sequence')").Scan(&id, &phase, &percent, &told); err != nil || id != "split-2" || !strings.Contains(told, "of the rows of 1 gene from s0 to s2, by sequence") {
		d.t.Fatalf("CALL locus.split: %s %s %s %s: %v", id, phase, percent, told, err)
	}
	if warned := warnings(d.t, dba); !strings.Contains(warned, "will be refused while the genes are divided: DELETE FROM test_order") || !strings.Contains(warned, "LIMIT ?: it has ORDER BY and LIMIT") {
		d.t.Errorf("CALL locus.split warns\n%s", warned)
	}
}

// warnings returns the lines of SHOW WARNINGS.
func warnings(t *testing.T, db *sql.DB) string {
	t.Helper()
	rows, err := db.Query("SHOW WARNINGS")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all strings.Builder
	for rows.Next() {
		var level, code, message string
		if err := rows.Scan(&level, &code, &message); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&all, level, code, message)
	}
	return all.String()
}
