package e2e

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"locus/proxy"
	"locus/router"
	"locus/router/catalog"
)

// stepImport publishes the next version of the map, of an import of table note from s0 to s1.
func (f *fencing) stepImport(holds bool) int64 {
	f.t.Helper()
	move := router.Move{
		Job: "import-1/s1", Genes: f.routes.GenesOf("s1"), From: "s0", To: "s1", Tables: []string{f.Schema + ".note"}, HoldsTables: holds,
	}
	next, err := f.routes.Step([]router.Move{move})
	if err != nil {
		f.t.Fatal(err)
	}
	f.routes = next
	changed := *f.Cluster
	changed.Routes = next
	changed.Tables[catalog.TableName{Schema: f.Schema, Name: "note"}] = catalog.Declaration{Kind: catalog.Single, Shard: "s0"}
	f.Apply(&changed)
	for f.Proxy.Status().MapVersion < next.Version() {
		<-time.After(time.Millisecond)
	}
	return next.Version()
}

// TestAFenceOfTables: statements that may read or write a table that is about to be sharded wait, however they reach
// it. Others continue. The fence waits for transactions that have used the table.
func TestAFenceOfTables(t *testing.T) {
	fenced(t, func(f *fencing, db *sql.DB) {
		for _, query := range []string{
			"CREATE TABLE note (id BIGINT PRIMARY KEY, text VARCHAR(20))",
			"CREATE TABLE beside (id BIGINT PRIMARY KEY)",
			"CREATE VIEW of_note AS SELECT * FROM note",
			"CREATE FUNCTION notes() RETURNS BIGINT READS SQL DATA RETURN (SELECT COUNT(*) FROM note)",
			"INSERT INTO note VALUES (1, 'a')",
			"INSERT INTO test_order (buyer_uid) VALUES (1)",
		} {
			exec(t, db, query)
		}
		f.acked(f.stepImport(false))
		before := begin(t, db)
		exec(t, before, "UPDATE note SET text = 'b' WHERE id = 1")
		for _, query := range []string{"ALTER TABLE note ADD COLUMN more INT", "TRUNCATE TABLE note", "DROP TABLE note"} {
			if _, err := db.Exec(query); err == nil || !strings.Contains(err.Error(), "while genes are being moved") {
				t.Errorf("%s: %v", query, err)
			}
		}
		fence := f.stepImport(true)
		held := map[string]<-chan error{}
		for _, query := range []string{
			"INSERT INTO note VALUES (2, 'c')",
			"SELECT * FROM note WHERE id = 2",
			"SELECT COUNT(*) FROM of_note",
			"SELECT notes()",
			"SELECT COUNT(*) FROM test_order JOIN note ON id = buyer_uid",
			"INSERT INTO beside SELECT id FROM note WHERE id = 1",
			"LOCK TABLES beside READ",
		} {
			held[query] = later(func() error { _, err := db.Exec(query); return err })
		}
		f.holding(int64(len(held)))
		for _, query := range []string{
			"INSERT INTO beside VALUES (100)",
			"SELECT COUNT(*) FROM beside",
			"SELECT 1",
			"INSERT INTO test_order (buyer_uid) VALUES (1)",
			"SELECT COUNT(*) FROM test_order",
			"SELECT COUNT(*) FROM product",
			"SET @a = 1",
		} {
			exec(t, db, query)
		}
		f.notAcked(fence)
		exec(t, before, "UPDATE note SET text = 'd' WHERE id = 1") // the transaction may continue to its end
		if err := before.Commit(); err != nil {
			t.Fatal(err)
		}
		f.acked(fence)
		f.stepImport(false)
		for query, done := range held {
			f.done(query, done)
		}
	}, func(o *proxy.Options) { o.Fence.Patience, o.Fence.Hold = time.Minute, time.Minute })
}
