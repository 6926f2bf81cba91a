package e2e

import (
	"context"
	"database/sql"
	"sync/atomic"
	"testing"

	"locus/proxy"
	"locus/test/shop"
)

// TestAProxyThatHangsKeepsNothingInDoubt makes a proxy hang between a decision and its commit. While another proxy
// considers it alive, it leaves the branch alone. Later the decision can no longer be committed, and the branch is
// rolled back.
func TestAProxyThatHangsKeepsNothingInDoubt(t *testing.T) {
	var asked atomic.Int32
	var hangs, gone atomic.Bool
	var recovered atomic.Pointer[func()]
	var beside proxy.Options
	o := shop.Options{Options: func(o *proxy.Options) {
		beside = *o
		beside.Name = "beside"
		beside.Alive = func(context.Context) ([]string, error) {
			asked.Add(1)
			if gone.Load() {
				return []string{"beside"}, nil
			}
			return []string{o.Name, "beside"}, nil
		}
		o.Stop = func(point string) {
			if point == "decided" && hangs.Load() {
				(*recovered.Load())()
			}
		}
	}}
	each(t, o, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		gone.Store(false)
		asked.Store(0)
		shop.Serve(t, beside)
		tx, second := spanning(t, db), s.Shard(t, 1)
		left := func() bool {
			var branches [][4]string
			rows, err := second.Query("XA RECOVER")
			for err == nil && rows.Next() {
				var b [4]string
				err = rows.Scan(&b[0], &b[1], &b[2], &b[3])
				branches = append(branches, b)
			}
			return err != nil || len(branches) > 0
		}
		wait := func() { // the session's goroutine hangs
			until(t, "recovery asks who is alive", func() bool { return asked.Load() >= 2 })
			if !left() {
				t.Error("the branch was not left to a proxy that is alive")
			}
			gone.Store(true)
			until(t, "the branch is gone", func() bool { return !left() })
		}
		recovered.Store(&wait)
		hangs.Store(true)
		err := tx.Commit()
		hangs.Store(false)
		refused(t, err, 1180, "rolled back on every shard")
		if got := allOrders(t, db); got != 0 {
			t.Errorf("%d rows, want 0", got)
		}
	})
}
