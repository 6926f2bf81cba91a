package e2e

import (
	"database/sql"
	"maps"
	"testing"

	"locus/idgen/gene"
	"locus/internal/test/link"
)

// TestAFenceWaitsForWhatWasLeftBehind: the connection of a statement is lost while the statement waits for a lock at
// its shard, and its client gets the error that the effect is unknown. The statement takes no effect after the fence
// was acknowledged.
func TestAFenceWaitsForWhatWasLeftBehind(t *testing.T) {
	fenced(t, func(f *fencing, db *sql.DB) {
		exec(t, db, "INSERT INTO test_order (buyer_uid) VALUES (42)")
		server := f.Servers[0]
		way := link.New(t, server.Addr())
		f.through(way)
		f.acked(f.step(gene.Set{}))

		shard := f.Shard(t, 0)
		holder := begin(t, shard)
		exec(t, holder, "UPDATE test_order SET version = version WHERE buyer_uid = 42")
		update := later(func() error {
			_, err := db.Exec("UPDATE test_order SET status = 'left_behind' WHERE buyer_uid = 42")
			return err
		})
		until(t, "it waits", func() bool { return running(t, shard, "left_behind") == 1 })
		way.Lead("")
		refused(t, <-update, 1158, "unknown")
		fence := f.step(held42)
		f.notAcked(fence)
		way.Lead(server.Addr())
		f.acked(fence)
		if n := running(t, shard, "left_behind"); n != 0 {
			t.Error("the statement goes on at the shard")
		}
		if err := holder.Rollback(); err != nil {
			t.Fatal(err)
		}
		f.step(gene.Set{})
		if n := number(t, db, "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 42 AND status = 'new'"); n != 1 {
			t.Errorf("%d rows are as they were, want 1", n)
		}
	})
}

// through makes the proxy reach the first shard over a link, from the next map on.
func (f *fencing) through(way *link.Link) {
	changed := *f.Cluster
	changed.Shards = maps.Clone(changed.Shards)
	first := changed.Shards["s0"]
	first.Address = way.Addr()
	changed.Shards["s0"] = first
	f.Cluster = &changed
}
