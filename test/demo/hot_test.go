package demo

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"locus/cmd/dbserver"
)

// divided looks at a gene of which two shards have the rows, and inserts as many more as there are shares.
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

// TestHotGenesAreFoundAndMoved has one buyer do most of what is done, and finds it
// by what two proxies have counted; then its rows are divided.
func TestHotGenesAreFoundAndMoved(t *testing.T) {
	d := start(t, dbserver.MariaDB, t.TempDir(), "--orders-per-second", "0", "--proxies", "2")
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
	if _, err := first.Exec("DELETE FROM test_order WHERE buyer_uid = 42 AND amount < 0 LIMIT 1"); err != nil {
		t.Fatal(err)
	}
	out = d.must("split", "--from", "s0", "--to", "s2", "--hottest", "40%", "--by", "sequence")
	if !strings.Contains(out, "job split-1: split of the rows of 1 gene from s0 to s2, by sequence: 0x3eab") || !strings.Contains(out, "LIMIT ?: it has LIMIT") {
		t.Errorf("split --hottest:\n%s", out)
	}
	d.until("ready", 0)
	d.must("cutover", "split-1", "--to", "35%", "--yes")
	d.until("cutting", 35)
	d.divided(first)
	d.must("cutover", "split-1", "--yes")
	d.until("cut", 100)
	if got := d.query("SELECT COUNT(*) FROM test_order WHERE buyer_uid = 42"); got != "102" {
		t.Errorf("%s orders of the buyer", got)
	}
	if explained := explain(t, first, fmt.Sprintf("EXPLAIN SELECT * FROM test_order WHERE buyer_uid = %d", 42)); !strings.Contains(explained, "s2") {
		t.Errorf("the buyer's orders are read as\n%s", explained)
	}
}
