package demo

import (
	"encoding/json"
	"strings"
	"testing"

	"locus/cmd/dbserver"
)

// TestVerify plants rows where they should not be, and differences, and has them
// found; what is only on its way by a move is none.
func TestVerify(t *testing.T) {
	for _, engine := range []dbserver.Engine{dbserver.MariaDB, dbserver.MySQL} {
		t.Run(string(engine), func(t *testing.T) {
			t.Parallel()
			d := start(t, engine, t.TempDir(), "--orders-per-second", "0")
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
			d.must("verify") // the copies on s2 are none of the rows that should not be there
			d.planted()

			d.atShard(2, "SET SESSION sql_log_bin = 0", "UPDATE shop.test_order SET amount = amount + 1 LIMIT 1")
			if out, err := d.locus("verify", "split-1"); err == nil || !strings.Contains(out, "the servers differ in 1 rows or more") {
				t.Errorf("verify split-1 with a row that differs: %v\n%s", err, out)
			}
			d.atShard(2, "SET SESSION sql_log_bin = 0", "UPDATE shop.test_order SET amount = 1")
			d.must("resume", "split-1")
			d.until("ready", 0)
			d.must("abort", "split-1", "--yes")
			d.until("aborted", 0)
		})
	}
}

// planted plants a row of each kind that verify looks for, and takes it away.
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
		text, _, _ := strings.Cut(out, "\n{\n  \"error\": ") // which is on standard error
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
