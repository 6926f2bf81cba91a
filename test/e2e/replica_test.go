package e2e

import (
	"database/sql"
	"fmt"
	"testing"

	"locus/internal/test/servers"
	"locus/proxy"
	"locus/proxy/backend"
	"locus/router"
	"locus/router/cluster"
	"locus/test/shop"
)

// replicated runs a shop of two shards, the first of which has a replica.
func replicated(t *testing.T, engine servers.Engine) (s *shop.Shop, replica *servers.Server) {
	t.Helper()
	all := servers.Start(t, engine, 3)
	all[2].Follow(t, all[0])
	s = shop.Start(t, engine, shop.Options{Servers: all[:2], Options: func(o *proxy.Options) { o.StatementTimeout = 0 }})
	changed := *s.Cluster
	changed.Shards = map[router.ShardName]cluster.Shard{}
	for name, shard := range s.Cluster.Shards {
		if name == "s0" {
			shard.Replicas = []cluster.Replica{{Address: all[2].Addr()}}
			shard.MaxReplicaLag = "2s"
		}
		changed.Shards[name] = shard
	}
	s.Cluster = &changed
	s.Apply(&changed)
	usable(t, s, true)
	return s, all[2]
}

func usable(t *testing.T, s *shop.Shop, want bool) {
	t.Helper()
	var last []backend.ReplicaStats
	defer func() {
		if t.Failed() {
			t.Logf("replicas: %+v", last)
		}
	}()
	until(t, fmt.Sprintf("the replica is usable: %v", want), func() bool {
		last = s.Proxy.Status().Replicas
		return len(last) == 1 && last[0].Usable == want
	})
}

func TestReadsFromReplicas(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s, replica := replicated(t, engine)
		db := s.DB(t, nil)
		orders(t, db) // buyer 42 is on s0, which has the replica
		there := replica.DB(t, s.Schema)
		until(t, "the replica has the rows", func() bool { return number(t, there, "SELECT COUNT(*) FROM test_order") == 3 })
		// A row that only the replica has shows which server answered.
		exec(t, there, "UPDATE test_order SET status = 'replica' WHERE buyer_uid = 42")
		exec(t, there, "INSERT INTO product VALUES (1, 'replica', 1)")

		conn, _ := connect(t, db)
		status := func(from interface {
			QueryRow(string, ...any) *sql.Row
		}, query string,
		) (text string) {
			t.Helper()
			if err := from.QueryRow(query).Scan(&text); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			return text
		}
		const one, two = "SELECT status FROM test_order WHERE buyer_uid = 42", "SELECT status FROM test_order ORDER BY status DESC LIMIT 1"
		if got := status(conn, one); got != "new" {
			t.Errorf("%s is read without having been asked for", got)
		}
		exec(t, conn, "SET @@locus_read = 'replica'")
		if got := status(conn, "SELECT @@locus_read"); got != "replica" {
			t.Errorf("locus_read is %s", got)
		}
		for _, query := range []string{one, two, "SELECT name FROM product WHERE product_id = 1"} {
			if got := status(conn, query); got != "replica" {
				t.Errorf("%s: %s", query, got)
			}
		}
		statement, err := conn.PrepareContext(t.Context(), "SELECT status FROM test_order WHERE buyer_uid = ?")
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if err := statement.QueryRow(42).Scan(&got); err != nil || got != "replica" {
			t.Errorf("prepared: %s, %v", got, err)
		}
		// Reads that must see the latest rows never use the replica.
		if got := status(conn, one+" FOR UPDATE"); got != "new" {
			t.Errorf("a locking read: %s", got)
		}
		exec(t, conn, "BEGIN")
		if got := status(conn, one); got != "new" {
			t.Errorf("within a transaction: %s", got)
		}
		exec(t, conn, "UPDATE test_order SET amount = 1 WHERE buyer_uid = -1") // another row than the one that differs
		if got := status(conn, one); got != "new" {
			t.Errorf("within a transaction that wrote: %s", got)
		}
		exec(t, conn, "COMMIT")
		exec(t, conn, "SET autocommit = 0")
		if got := status(conn, one); got != "new" {
			t.Errorf("with autocommit off: %s", got)
		}
		exec(t, conn, "SET autocommit = 1")
		if got := status(conn, one); got != "replica" {
			t.Errorf("after that: %s", got)
		}
		_, err = conn.Exec("SET locus_read = 'elsewhere'")
		refused(t, err, 1231, "locus_read")
		exec(t, conn, "SET locus_read = DEFAULT")
		if got := status(conn, one); got != "new" {
			t.Errorf("with locus_read = DEFAULT: %s", got)
		}

		// By a user's setting.
		declare(s, map[string]cluster.User{"late": {Read: cluster.ReadReplica}, "own": {Read: cluster.ReadSession}})
		late := known(t, as(t, s, "late", nil))
		usable(t, s, true)
		if got := status(late, one); got != "replica" {
			t.Errorf("a user with read: replica gets %s", got)
		}
		// A replica that no longer follows, and one that is gone.
		stop, begin := "STOP REPLICA", "START REPLICA"
		if engine == servers.MariaDB {
			stop, begin = "STOP SLAVE", "START SLAVE"
		}
		replica.Exec(t, stop)
		usable(t, s, false)
		if got := status(late, one); got != "new" {
			t.Errorf("with replication stopped: %s", got)
		}
		replica.Exec(t, begin)
		usable(t, s, true)
		readsItsOwn(t, s, db, replica)
		if err := replica.Kill(); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			if got := status(late, one); got != "new" {
				t.Errorf("from a dead replica: %s", got)
			}
		}
		usable(t, s, false)
	})
}
