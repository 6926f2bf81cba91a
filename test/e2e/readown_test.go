package e2e

import (
	"database/sql"
	"testing"

	"locus/internal/test/servers"
	"locus/test/shop"
)

// readsItsOwn writes and reads in one session. The reads go to a replica that is up to date, and then to one that
// isn't.
func readsItsOwn(t *testing.T, s *shop.Shop, db *sql.DB, replica *servers.Server) {
	t.Helper()
	conn, _ := connect(t, db)
	exec(t, conn, "SET locus_read = 'session'")
	var mode string
	if err := conn.QueryRow("SELECT @@locus_read").Scan(&mode); err != nil || mode != "session" {
		t.Errorf("locus_read is %s, %v", mode, err)
	}
	const one = "SELECT CAST(amount AS SIGNED) FROM test_order WHERE buyer_uid = 42 ORDER BY order_id LIMIT 1"
	const several = "SELECT CAST(SUM(amount) AS SIGNED) FROM test_order"
	const write = "UPDATE test_order SET amount = ? WHERE buyer_uid = 42 ORDER BY order_id LIMIT 1"
	exec(t, conn, "UPDATE test_order SET amount = 0 WHERE buyer_uid = 42")
	rest := number(t, conn, several)
	read := func(from client, query string, want int64, what string) {
		t.Helper()
		if got := number(t, from, query); got != want {
			t.Errorf("%s: %s gives %d, and the session wrote %d", what, query, got, want)
		}
	}
	before := s.Proxy.Status().Counts.OnReplicas.Load()
	for i := range int64(12) {
		exec(t, conn, write, i)
		read(conn, one, i, "one shard")
		read(conn, several, i+rest, "several shards")
	}
	exec(t, conn, "BEGIN")
	exec(t, conn, write, 77)
	exec(t, conn, "COMMIT")
	read(conn, one, 77, "after a transaction")
	if on := s.Proxy.Status().Counts.OnReplicas.Load() - before; on < 12 {
		t.Errorf("a replica answered %d reads", on)
	}

	// Replication waits for a lock there.
	behind, err := replica.DB(t, s.Schema).Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = behind.Rollback() }()
	if _, err := behind.Exec("UPDATE test_order SET amount = amount + 0 WHERE buyer_uid = 42"); err != nil {
		t.Fatal(err)
	}
	if _, err := behind.Exec("DELETE FROM test_order WHERE buyer_uid = -1"); err != nil {
		t.Fatal(err)
	}
	exec(t, conn, write, 99)
	read(conn, one, 99, "the replica is behind")
	late, _ := connect(t, db)
	exec(t, late, "SET locus_read = 'replica'")
	read(late, one, 77, "who may read late")
	if err := behind.Rollback(); err != nil {
		t.Fatal(err)
	}
	read(conn, one, 99, "the replica comes after")

	own := known(t, as(t, s, "own", nil))
	if err := own.QueryRow("SELECT @@locus_read").Scan(&mode); err != nil || mode != "session" {
		t.Errorf("a user with read: session begins with %s, %v", mode, err)
	}
}
