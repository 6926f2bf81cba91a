package dump

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/scale"
	"locus/internal/test/servers"
	"locus/proxy/txn"
	"locus/test/shop"
)

// single returns one connection to the proxy.
func single(t *testing.T, s *shop.Shop) *sql.Conn {
	t.Helper()
	conn, err := s.DB(t, nil).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func run(t *testing.T, conn *sql.Conn, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if _, err := conn.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

func count(t *testing.T, conn *sql.Conn, query string) (n int) {
	t.Helper()
	if err := conn.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func refused(t *testing.T, conn *sql.Conn, text string, code uint16, says string) {
	t.Helper()
	_, err := conn.ExecContext(t.Context(), text)
	if e, ok := errors.AsType[*mysql.MySQLError](err); !ok || e.Number != code || !strings.Contains(e.Message, says) {
		t.Errorf("%s: %v, want error %d with %q", text, err, code, says)
	}
}

const (
	buyers    = 16 // on both shards
	timedOut  = 1205
	lockedOut = 1223
)

func visit(buyer int) string {
	return "INSERT INTO test_order (buyer_uid) VALUES (" + strconv.Itoa(buyer) + ")"
}

// FLUSH TABLES WITH READ LOCK locks all shards until UNLOCK TABLES. A transaction that begins in between sees
// the state of that moment on all shards.
func TestAReadLockOnAllShards(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{Spanning: txn.XA, User: ", admin: true"})
		a, b := single(t, s), single(t, s)
		for buyer := range buyers {
			run(t, b, visit(buyer))
		}
		run(t, b, "BEGIN", visit(0), visit(1), "ROLLBACK", "SET lock_wait_timeout = 1")
		run(t, a, "FLUSH TABLES WITH READ LOCK")
		refused(t, a, visit(1), lockedOut, "read lock")
		both := map[bool]bool{}
		for _, buyer := range []int{0, 1, 2, 3} {
			both[shardOf(t, s, buyer) == 0] = true
			refused(t, b, visit(buyer), timedOut, "")
		}
		if len(both) != 2 {
			t.Fatal("the buyers are on one shard")
		}
		refused(t, a, "LOCK TABLES test_order READ", 1235, "locus-1003")
		run(t, a, "START TRANSACTION WITH CONSISTENT SNAPSHOT")
		refused(t, b, visit(0), timedOut, "") // BEGIN doesn't release the lock
		run(t, a, "UNLOCK TABLES")
		for buyer := range buyers {
			run(t, b, visit(buyer))
		}
		if n := count(t, a, "SELECT COUNT(*) FROM test_order"); n != buyers {
			t.Errorf("the snapshot has %d orders, want %d", n, buyers)
		}
		run(t, a, "COMMIT")
		if n := count(t, a, "SELECT COUNT(*) FROM test_order"); n != 2*buyers {
			t.Errorf("there are %d orders, want %d", n, 2*buyers)
		}
		run(t, a, "FLUSH TABLES WITH READ LOCK")
		_ = a.Raw(func(any) error { return driver.ErrBadConn }) // this closes the connection, which ends the lock
		run(t, single(t, s), visit(0))
	})
}

// shardOf asks the shards for a buyer's rows, and returns which one has them.
func shardOf(t *testing.T, s *shop.Shop, buyer int) int {
	t.Helper()
	for i := range s.Servers {
		var n int
		if err := s.Shard(t, i).QueryRow("SELECT COUNT(*) FROM test_order WHERE buyer_uid = ?", buyer).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			return i
		}
	}
	t.Fatalf("no shard has buyer %d", buyer)
	return -1
}

// A session whose database is on the default shard alone locks all shards, too, and takes their snapshots.
func TestLocksFromADatabaseOfOneShard(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{Spanning: txn.XA, User: ", admin: true"})
		alone := s.Schema + "_alone"
		s.Servers[0].Exec(t, "CREATE DATABASE "+alone)
		t.Cleanup(func() {
			if err := s.Servers[0].Execute(context.WithoutCancel(t.Context()), "DROP DATABASE "+alone); err != nil {
				t.Error(err)
			}
		})
		a := single(t, s)
		run(t, a, "USE "+alone, "FLUSH TABLES WITH READ LOCK", "START TRANSACTION WITH CONSISTENT SNAPSHOT", "UNLOCK TABLES")
		run(t, a, "COMMIT", "CREATE TABLE here (n INT)")
	})
}

// Users without the privilege can't lock anything. MySQL's lock for copies of its files locks all shards.
func TestLocksOfServers(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		plain := single(t, shop.Start(t, engine, shop.Options{}))
		for _, text := range []string{"FLUSH TABLES WITH READ LOCK", "LOCK INSTANCE FOR BACKUP", "UNLOCK INSTANCE"} {
			refused(t, plain, text, 1235, "locus-1008: "+text+" is for users with admin: true")
		}
		s := shop.Start(t, engine, shop.Options{User: ", admin: true"})
		a, b := single(t, s), single(t, s)
		if engine == servers.MariaDB {
			refused(t, a, "LOCK INSTANCE FOR BACKUP", 1064, "")
			return
		}
		run(t, b, "SET lock_wait_timeout = 1")
		run(t, a, "LOCK INSTANCE FOR BACKUP")
		run(t, b, visit(0))
		for i := range s.Servers {
			conn := shardConn(t, s, i)
			run(t, conn, "SET lock_wait_timeout = 1")
			refused(t, conn, "ALTER TABLE test_order ADD COLUMN one INT", timedOut, "")
		}
		run(t, a, "UNLOCK INSTANCE")
		run(t, b, "ALTER TABLE test_order ADD COLUMN one INT")
	})
}

// Under the lock no transaction over several shards is committed on only some of them.
func TestASnapshotOfOneMoment(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{Spanning: txn.XA, User: ", admin: true"})
		ctx, stop := context.WithCancel(t.Context())
		var writers sync.WaitGroup
		for writer := range 4 {
			conn := single(t, s)
			writers.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					for _, text := range []string{"BEGIN", visit(n % buyers), visit((n + writer + 1) % buyers), visit((n + 5) % buyers), "COMMIT"} {
						if _, err := conn.ExecContext(context.WithoutCancel(ctx), text); err != nil {
							t.Errorf("%s: %v", text, err)
							return
						}
					}
				}
			})
		}
		a := single(t, s)
		for range scale.Of(20, 1000) {
			run(t, a, "FLUSH TABLES WITH READ LOCK", "START TRANSACTION WITH CONSISTENT SNAPSHOT", "UNLOCK TABLES")
			if n := count(t, a, "SELECT COUNT(*) FROM test_order"); n%3 != 0 {
				t.Errorf("a snapshot has %d orders, and three come at once", n)
			}
			run(t, a, "COMMIT")
		}
		stop()
		writers.Wait()
		if n := count(t, a, "SELECT COUNT(*) FROM test_order"); n%3 != 0 || n == 0 {
			t.Errorf("at the end there are %d orders", n)
		}
	})
}

// shardConn returns one connection to a shard.
func shardConn(t *testing.T, s *shop.Shop, i int) *sql.Conn {
	t.Helper()
	conn, err := s.Shard(t, i).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}
