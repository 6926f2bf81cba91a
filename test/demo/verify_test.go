package demo

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/test/product"
)

// TestVerify inserts rows on wrong shards, and rows that differ. Verify must find them, and must not report
// rows that a move is copying.
func TestVerify(t *testing.T) {
	servers.Mostly(t, servers.MariaDB, func(t *testing.T, engine servers.Engine) {
		t.Parallel()
		dir := t.TempDir()
		d := start(t, engine, dir, "--orders-per-second", "0")
		db := d.db()
		for buyer := range 100 {
			if _, err := db.Exec("INSERT INTO test_order (buyer_uid, amount) VALUES (?, 1)", buyer); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := db.Exec("INSERT INTO product (product_id, name, price) VALUES (1, 'a', 1), (2, 'b', 1), (3, 'c', 1), (4, 'd', 1), (5, 'e', 1)"); err != nil {
			t.Fatal(err)
		}
		if out := d.must("verify"); !strings.Contains(out, "shop.product") || !strings.Contains(out, "shop.test_order") {
			t.Errorf("verify:\n%s", out)
		}
		if out, err := d.locus("verify", "split-1"); err == nil || !strings.Contains(out, "no such job") {
			t.Errorf("verify a job that is not there: %v\n%s", err, out)
		}
		d.must("split", "--from", "s0", "--to", "s2", "--half")
		d.until("ready", 0)
		out := d.must("verify", "split-1")
		if !strings.Contains(out, "both shards are equal") || !strings.Contains(out, "shop.test_order") {
			t.Errorf("verify split-1:\n%s", out)
		}
		d.must("verify") // the copies of the move on s2 are not reported
		d.planted()

		d.atShard(2, "SET SESSION sql_log_bin = 0", "UPDATE shop.test_order SET amount = amount + 1 LIMIT 1")
		if out, err := d.locus("verify", "split-1"); err == nil || !strings.Contains(out, "the servers differ in 1 row, such as") {
			t.Errorf("verify split-1 with a row that differs: %v\n%s", err, out)
		}
		d.repaired(db, d.asDBA(dir).db)
		d.must("abort", "split-1", "--yes")
		d.until("aborted", 0)
	})
}

// repaired repairs rows that differ: first in a dry run, then by a command and by SQL. The move continues by
// itself.
func (d *demo) repaired(db, dba *sql.DB) {
	d.t.Helper()
	if out := d.must("repair", "split-1", "--take", "source", "--dry-run"); !strings.Contains(out, `amount="2.00"`) || !strings.Contains(out, "replace at the target") {
		d.t.Errorf("what would be done:\n%s", out)
	}
	if out, err := d.locus("repair", "split-1", "--take", "newer", "--yes"); err == nil || !strings.Contains(out, "both rows have version") {
		d.t.Errorf("the newer of rows of one version: %v\n%s", err, out)
	}
	d.must("repair", "split-1", "--take", "source", "--yes")
	d.until("ready", 0)
	if out := d.must("jobs", "split-1"); !strings.Contains(out, "repaired: 1 repaired") {
		d.t.Errorf("the journal:\n%s", out)
	}
	d.atShard(2, "SET SESSION sql_log_bin = 0", "DELETE FROM shop.test_order LIMIT 2")
	if out, err := d.locus("verify", "split-1"); err == nil || !strings.Contains(out, "the servers differ in 2 rows") {
		d.t.Errorf("verify split-1 with rows that are missing: %v\n%s", err, out)
	}
	var n, first int
	if err := db.QueryRow("SELECT COUNT(*), MIN(number) FROM locus.job_differences WHERE job = 'split-1' AND newer IS NULL").Scan(&n, &first); err != nil || n != 2 || first != 2 {
		d.t.Errorf("%d rows are listed, from number %d; %v", n, first, err)
	}
	for _, rows := range []any{first, nil} { // first one row, then all others
		if _, err := dba.Exec("CALL locus.repair('split-1', 'source', ?)", rows); err != nil {
			d.t.Fatal(err)
		}
		product.Eventually(d.t, "the repair is over", func() bool { return !strings.Contains(d.must("jobs"), "repairing") })
	}
	d.until("ready", 0)
	d.bringHome(db)
}

// bringHome moves a row from a wrong shard to the shard of its owner.
func (d *demo) bringHome(db *sql.DB) {
	d.t.Helper()
	var id, buyer int64 // an order of the lowest gene, which does not move
	if err := d.shard(0).QueryRow("SELECT order_id, buyer_uid FROM shop.test_order ORDER BY order_id LIMIT 1").Scan(&id, &buyer); err != nil {
		d.t.Fatal(err)
	}
	d.atShard(2, "SET SESSION sql_log_bin = 0", fmt.Sprintf("INSERT INTO shop.test_order (order_id, buyer_uid, amount, status, version) VALUES (%d, %d, 7, 'new', 1)", id, buyer))
	d.atShard(0, fmt.Sprintf("DELETE FROM shop.test_order WHERE order_id = %d", id))
	if out, err := d.locus("verify", "--repair", "--dry-run"); err != nil || !strings.Contains(out, "1 row would be repaired, 0 left") {
		d.t.Errorf("verify --repair --dry-run: %v\n%s", err, out)
	}
	if out, err := d.locus("verify"); err == nil {
		d.t.Errorf("after a dry run:\n%s", out)
	}
	d.must("verify", "--repair", "--yes")
	d.must("verify")
	var amount float64
	if err := db.QueryRow("SELECT amount FROM test_order WHERE order_id = ?", id).Scan(&amount); err != nil || amount != 7 {
		d.t.Errorf("the row that was brought home: %v; %v", amount, err)
	}
}

// planted inserts a row of each kind that verify searches for, and removes it again.
func (d *demo) planted() {
	d.t.Helper()
	for _, p := range []struct {
		shard             int
		plant, undo       string
		table, shown, key string
		wrong             int
	}{
		{
			1, "INSERT INTO shop.test_order (order_id, buyer_uid, amount, status, version) VALUES (140737488355329, 7, 1, 'new', 1)", // gene 1, which is s0's
			"DELETE FROM shop.test_order WHERE order_id = 140737488355329", "shop.test_order", "s1", `"140737488355329"`, 1,
		},
		{0, "UPDATE shop.product SET name = CONCAT(name, ' ') WHERE product_id = 3", "UPDATE shop.product SET name = RTRIM(name)", "shop.product", "s1", `"3"`, 1},
		{1, "DELETE FROM shop.product WHERE product_id = 5", "INSERT INTO shop.product (product_id, name, price) VALUES (5, 'e', 1)", "shop.product", "s1", `"5"`, 1},
	} {
		d.atShard(p.shard, "SET SESSION sql_log_bin = 0", p.plant)
		out, err := d.locus("verify", "-o", "json")
		var findings []struct {
			Table, Shard, What string
			Wrong              int
		}
		text, _, _ := strings.Cut(out, "\n{\n  \"error\": ") // the report is on standard error
		if jsonErr := json.Unmarshal([]byte(text), &findings); err == nil || jsonErr != nil {
			d.t.Fatalf("after %s: %v, %v\n%s", p.plant, err, jsonErr, out)
		}
		found := false
		for _, f := range findings {
			if f.Table == p.table && f.Shard == p.shown {
				found = f.Wrong == p.wrong && strings.Contains(f.What, p.key)
			}
		}
		if !found {
			d.t.Errorf("after %s:\n%s", p.plant, out)
		}
		d.atShard(p.shard, "SET SESSION sql_log_bin = 0", p.undo)
	}
	d.must("verify")
}
