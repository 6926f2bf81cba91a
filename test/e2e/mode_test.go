package e2e

import (
	"database/sql"
	"testing"

	"locus/test/shop"
)

// Under PIPES_AS_CONCAT, text that looks like two owners is one text.
func TestPipesThatJoinTexts(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, _ *shop.Shop, db *sql.DB) {
		db.SetMaxOpenConns(1)
		for _, b := range buyers {
			exec(t, db, "INSERT INTO test_order (buyer_uid, amount) VALUES (?, 1)", b.uid)
		}
		const query = "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 10001 || buyer_uid = 0"
		if n := number(t, db, query); n != 2 {
			t.Errorf("%d rows of two owners, want 2", n)
		}
		exec(t, db, "SET sql_mode = 'PIPES_AS_CONCAT'")
		if n := number(t, db, query); n != int64(len(buyers)) {
			t.Errorf("%d rows, want all %d: each owner's differs from 10001 before itself", n, len(buyers))
		}
	})
}
