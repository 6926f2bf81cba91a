package e2e

import (
	"context"
	"database/sql"
	"sync"
	"testing"
	"time"

	"locus/test/shop"
)

// A gathering that is interrupted leaves nothing behind: its connection is closed, or clean.
func TestGatheringsEnd(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		for owner := range 8 {
			exec(t, db, "INSERT INTO test_order (buyer_uid, amount) VALUES (?, ?)", owner, owner)
		}
		var all sync.WaitGroup
		for n := range 6 {
			all.Go(func() {
				for range 5 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					if n%2 == 0 { // it is given up
						ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
					}
					var count int
					err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM (SELECT DISTINCT amount FROM test_order) d WHERE amount = 0 OR amount + SLEEP(0.01) > 0").Scan(&count)
					if n%2 == 1 && (err != nil || count != 8) {
						t.Errorf("%d rows (%v), want 8", count, err)
					}
					cancel()
				}
			})
		}
		all.Wait()
		if got := number(t, db, "SELECT COUNT(DISTINCT amount) FROM test_order"); got != 8 {
			t.Errorf("%d amounts, want 8", got)
		}
	})
}
