package demo

import (
	"database/sql"
	"strconv"
	"testing"

	"locus/idgen/gene"
	"locus/test/product"
)

// strange is a buyer whom no worker has, of the genes that move.
var strange = buyerAfter(6000)

// order places one of that buyer.
func (d *demo) order(db *sql.DB) {
	d.t.Helper()
	if _, err := db.Exec("INSERT INTO test_order (buyer_uid, amount) VALUES (?, 5)", strange); err != nil {
		d.t.Fatal(err)
	}
}

// mirrors mirrors all reads of the moving genes for a while. The tables of the schema locus show how many were
// compared, and which answers of the target differ, because a user has changed its rows without the binary log.
func (d *demo) mirrors(t *testing.T, db *sql.DB, o operator) {
	t.Helper()
	o.mirror("100")
	until := func(what, query string) {
		t.Helper()
		product.Eventually(t, what, func() bool {
			var amount string
			var n int
			if err := db.QueryRow("SELECT amount FROM test_order WHERE buyer_uid = ?", strange).Scan(&amount); err != nil || amount != "5.00" {
				t.Fatalf("the order is of %s: %v", amount, err)
			}
			if err := db.QueryRow("SELECT COUNT(*) FROM " + query).Scan(&n); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			return n > 0
		})
	}
	const ofJob = " WHERE job = 'split-1' AND "
	until("reads are compared", "locus.mirrors"+ofJob+"percent = 100 AND compared > 10 AND differences = 0 AND source_p50_ms > 0 AND target_p50_ms > 0")
	change := func(by string) {
		d.atShard(2, "SET SESSION sql_log_bin = 0", "UPDATE test_order SET amount = amount "+by+" WHERE buyer_uid = "+strconv.FormatInt(strange, 10))
	}
	change("+ 1")
	until("the difference is found", "locus.mirror_differences"+ofJob+
		"statement LIKE 'SELECT amount FROM test_order WHERE buyer_uid = ?%' AND database_name = 'shop' AND gene = '"+gene.OfInt(strange, gene.W16).String()+"' AND source_rows = 1 AND target_rows = 1 AND source_hash <> target_hash")
	until("it is counted", "locus.mirrors"+ofJob+"differences > 0")
	change("- 1")
	o.mirror("0")
	until("mirroring has ended", "locus.jobs WHERE id = 'split-1' AND mirror_percent = 0")
}
