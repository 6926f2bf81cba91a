package e2e

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	protocol "github.com/go-mysql-org/go-mysql/client"
	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
	"locus/proxy"
	"locus/test/shop"
)

// client is one connection.
type client struct{ *sql.Conn }

func (c client) Exec(query string, args ...any) (sql.Result, error) {
	return c.ExecContext(context.Background(), query, args...)
}

func (c client) QueryRow(query string, args ...any) *sql.Row {
	return c.QueryRowContext(context.Background(), query, args...)
}

// connect takes one connection, and returns its ID.
func connect(t *testing.T, db *sql.DB) (client, int64) {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	var id int64
	if err := conn.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	return client{conn}, id
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	every(t, 5*time.Millisecond, what, holds)
}

// writerPace is the pause of a client between two statements. More statements would use the machine and prove nothing more.
const writerPace = 3 * time.Millisecond

// paced waits for writerPace, and reports whether the client continues.
func paced(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return false
	case <-time.After(writerPace):
		return true
	}
}

// waiting waits until a transaction of a shard waits for a row's lock. The server refreshes INNODB_TRX only if it was
// not read for 0.1 s; a client that reads it more often always gets the first content.
func waiting(t *testing.T, shard *sql.DB) {
	t.Helper()
	every(t, 150*time.Millisecond, "a transaction waits for a lock", func() bool {
		return number(t, shard, "SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'") > 0
	})
}

// every waits for a condition that it checks once in an interval.
func every(t *testing.T, interval time.Duration, what string, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for deadline := time.Now().Add(20 * time.Second); !holds(); <-ticker.C {
		if time.Now().After(deadline) {
			t.Fatalf("still not: %s", what)
		}
	}
}

// running counts the statements with a word that a shard runs.
func running(t *testing.T, shard *sql.DB, word string) int64 {
	t.Helper()
	return number(t, shard, "SELECT COUNT(*) FROM information_schema.processlist WHERE INFO LIKE ? AND ID <> CONNECTION_ID()", "%"+word+"%")
}

// slow is a read that takes ten minutes on each row's shard. Unlike SELECT SLEEP() alone, it returns no row when it
// is interrupted.
func slow(marker string) string {
	return "SELECT /* " + marker + " */ COUNT(*) FROM test_order WHERE SLEEP(600) = 0 AND buyer_uid"
}

// start begins a statement, and returns a channel for its result.
func start(t *testing.T, conn interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, query string,
) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := conn.ExecContext(t.Context(), query)
		done <- err
	}()
	return done
}

// orders inserts one order for each of the shop's buyers, who are on both shards.
func orders(t *testing.T, db *sql.DB) {
	t.Helper()
	for _, b := range buyers {
		exec(t, db, "INSERT INTO test_order (buyer_uid) VALUES (?)", b.uid)
	}
}

func TestKillQuery(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		shards := []*sql.DB{s.Shard(t, 0), s.Shard(t, 1)}
		orders(t, db)
		conn, id := connect(t, db)
		marker := "killed_" + s.Schema
		for _, c := range []struct {
			name, query, kill string
			shards            []int
		}{
			{"one shard", slow(marker) + " = 42", "KILL QUERY %d", []int{0}},
			{"several", slow(marker) + " IN (0, 42)", "KILL SOFT QUERY %d", []int{0, 1}},
		} {
			done := start(t, conn, c.query)
			for _, shard := range c.shards {
				until(t, c.name+": it runs", func() bool { return running(t, shards[shard], marker) == 1 })
			}
			exec(t, db, fmt.Sprintf(c.kill, id))
			refused(t, <-done, 1317, "interrupted")
			for _, shard := range c.shards {
				until(t, c.name+": it ended", func() bool { return running(t, shards[shard], marker) == 0 })
			}
			if got := number(t, conn, "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 42"); got != 1 {
				t.Errorf("%s: the session sees %d rows afterwards", c.name, got)
			}
		}
		_, err := db.Exec("KILL QUERY 4000000000")
		refused(t, err, 1094, "4000000000")
		_, err = db.Exec("KILL QUERY 99999999999")
		refused(t, err, 1094, "99999999999")
		_, err = db.Exec("KILL USER app")
		if number(t, db, "SELECT VERSION() LIKE '%MariaDB%'") == 1 {
			refused(t, err, 1235, "KILL each")
		} else { // there is no such statement
			refused(t, err, 1064, "app")
		}
		_, err = conn.ExecContext(t.Context(), "KILL QUERY CONNECTION_ID()")
		refused(t, err, 1317, "interrupted")
		exec(t, db, fmt.Sprintf("KILL QUERY %d", id)) // nothing runs there
		if err := conn.PingContext(t.Context()); err != nil {
			t.Errorf("after a kill without a statement: %v", err)
		}
	})
}

func TestProcessKill(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{})
		conn, id := connect(t, s.DB(t, nil))
		killer, err := protocol.Connect(s.Addr, shop.User, shop.Password, s.Schema)
		if err != nil {
			t.Fatal(err)
		}
		defer killer.Close()
		for _, want := range []byte{0x00, 0xff} { // OK, and then there is no such session
			until(t, "the answer is as it must be", func() bool {
				killer.ResetSequence()
				if err := killer.WritePacket(binary.LittleEndian.AppendUint32([]byte{0, 0, 0, 0, 12}, uint32(id))); err != nil {
					t.Fatal(err)
				}
				answer, err := killer.ReadPacket()
				if err != nil {
					t.Fatal(err)
				}
				return answer[0] == want
			})
		}
		if err := conn.PingContext(t.Context()); err == nil {
			t.Error("a killed connection answers")
		}
	})
}

// TestKillQueryInATransaction ends a wait for a lock, and the transaction continues.
func TestKillQueryInATransaction(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		shards := []*sql.DB{s.Shard(t, 0), s.Shard(t, 1)}
		orders(t, db)
		holder := begin(t, db)
		exec(t, holder, "UPDATE test_order SET amount = 1 WHERE buyer_uid = 42")
		conn, id := connect(t, db)
		exec(t, conn, "BEGIN")
		exec(t, conn, "INSERT INTO test_order (buyer_uid) VALUES (-1)") // where the holder locks no gap
		done := start(t, conn, "UPDATE test_order SET amount = 2 WHERE buyer_uid = 42")
		until(t, "it waits", func() bool { return running(t, shards[0], "SET amount = 2") == 1 })
		exec(t, db, fmt.Sprintf("KILL QUERY %d", id))
		refused(t, <-done, 1317, "interrupted")
		if got := number(t, conn, "SELECT COUNT(*) FROM test_order WHERE buyer_uid = -1"); got != 2 {
			t.Errorf("the transaction sees %d rows, want 2", got)
		}
		exec(t, conn, "COMMIT")
		if err := holder.Rollback(); err != nil {
			t.Fatal(err)
		}
		if got := number(t, db, "SELECT COUNT(*) FROM test_order WHERE buyer_uid = -1"); got != 2 {
			t.Errorf("%d rows after the commit, want 2", got)
		}
	})
}

func TestKillConnection(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		shards := []*sql.DB{s.Shard(t, 0), s.Shard(t, 1)}
		orders(t, db)
		marker := "killed_" + s.Schema
		conn, id := connect(t, db)
		done := start(t, conn, slow(marker)+" = 42")
		until(t, "it runs", func() bool { return running(t, shards[0], marker) == 1 })
		exec(t, db, fmt.Sprintf("KILL %d", id))
		if err := <-done; err == nil {
			t.Error("the statement ended well")
		}
		until(t, "the shard's statement ended", func() bool { return running(t, shards[0], marker) == 0 })
		until(t, "the session ended", func() bool {
			_, err := db.Exec(fmt.Sprintf("KILL %d", id))
			return err != nil && strings.Contains(err.Error(), "1094")
		})
		if err := conn.PingContext(t.Context()); err == nil {
			t.Error("a killed connection answers")
		}
		// An idle session within a transaction.
		conn, id = connect(t, db)
		exec(t, conn, "BEGIN")
		exec(t, conn, "UPDATE test_order SET amount = 9 WHERE buyer_uid = 42")
		exec(t, db, fmt.Sprintf("KILL CONNECTION %d", id))
		exec(t, db, "UPDATE test_order SET amount = amount + 1 WHERE buyer_uid = 42") // the lock is free
		if got := rows(t, db, "SELECT amount FROM test_order WHERE buyer_uid = 42"); fmt.Sprint(got) != "[1.00]" {
			t.Errorf("amount %v, want 1.00: the killed transaction is rolled back", got)
		}
	})
}

// TestAClientThatLeavesEndsItsStatement closes the connection of a client that
// waits for an answer.
func TestAClientThatLeavesEndsItsStatement(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, _ *sql.DB) {
		shards := []*sql.DB{s.Shard(t, 0), s.Shard(t, 1)}
		for _, tls := range []string{"", "skip-verify"} {
			db := s.DB(t, func(c *mysql.Config) { c.TLSConfig = tls })
			orders(t, db)
			marker := "left_" + s.Schema + tls
			for _, query := range []string{slow(marker) + " = 42", slow(marker) + " IN (0, 42)", "UPDATE /* " + marker + " */ test_order SET amount = 5 WHERE buyer_uid = 42"} {
				holder := begin(t, db)
				exec(t, holder, "SELECT 1 FROM test_order WHERE buyer_uid = 42 FOR UPDATE")
				ctx, leave := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() {
					_, err := db.ExecContext(ctx, query)
					done <- err
				}()
				until(t, "it runs", func() bool { return running(t, shards[0], marker) == 1 })
				leave() // the driver closes the connection
				if err := <-done; err == nil {
					t.Error("the statement ended well")
				}
				for shard := range 2 {
					until(t, "the shard's statement ended", func() bool { return running(t, shards[shard], marker) == 0 })
				}
				if err := holder.Rollback(); err != nil {
					t.Fatal(err)
				}
			}
			if got := number(t, db, "SELECT COUNT(*) FROM test_order WHERE amount = 5"); got != 0 {
				t.Errorf("%d rows changed by a statement whose client had left", got)
			}
			exec(t, db, "DELETE FROM test_order WHERE buyer_uid = 42")
			exec(t, db, "DELETE FROM test_order WHERE buyer_uid = 0")
		}
		for name, pool := range s.Proxy.Status().Pools {
			until(t, "shard "+string(name)+" has its connections back", func() bool { return s.Proxy.Status().Pools[name].Lent == 0 })
			_ = pool
		}
	})
}

func TestStatementTimeout(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		number := map[servers.Engine]uint16{servers.MariaDB: 1969, servers.MySQL: 3024}[engine]
		s := shop.Start(t, engine, shop.Options{Options: func(o *proxy.Options) { o.StatementTimeout = 100 * time.Millisecond }})
		db := s.DB(t, nil)
		orders(t, db)
		for _, query := range []string{slow("x") + " = 42", slow("x") + " IN (0, 42)"} {
			_, err := db.Exec(query)
			refused(t, err, number, "exceeded")
		}
		if err := db.Ping(); err != nil {
			t.Error(err)
		}
		exec(t, db, "CREATE TABLE slowly SELECT SLEEP(0.6) AS n") // definitions take their time
	})
}

// A user's own limit replaces the proxy's, and may be none.
func TestAUserWithoutATimeout(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		o := shop.Options{User: ", statement_timeout: 0s", Options: func(o *proxy.Options) { o.StatementTimeout = 100 * time.Millisecond }}
		if got := number(t, shop.Start(t, engine, o).DB(t, nil), "SELECT SLEEP(0.6)"); got != 0 {
			t.Errorf("it was ended, and gives %d", got)
		}
	})
}

// TestTheSessionsOwnTimeout sets the limit by the engine's own variable.
func TestTheSessionsOwnTimeout(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		orders(t, db)
		set, number := "SET max_execution_time = 50", uint16(3024)
		if s.Servers[0].Engine() == servers.MariaDB {
			set, number = "SET max_statement_time = 0.05", 1969
		}
		conn, _ := connect(t, db)
		exec(t, conn, set)
		for _, query := range []string{slow("x") + " = 42", slow("x") + " IN (0, 42)"} {
			_, err := conn.ExecContext(t.Context(), query)
			refused(t, err, number, "")
		}
	})
}

func TestSilentClientsAreLetGo(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{})
		db := s.DB(t, nil)
		orders(t, db)
		conn, _ := connect(t, db)
		exec(t, conn, "SET wait_timeout = 1")
		exec(t, conn, "BEGIN")
		exec(t, conn, "UPDATE test_order SET amount = 7 WHERE buyer_uid = 42")
		exec(t, db, "UPDATE test_order SET amount = amount + 1 WHERE buyer_uid = 42") // waits for the lock
		if got := rows(t, db, "SELECT amount FROM test_order WHERE buyer_uid = 42"); fmt.Sprint(got) != "[1.00]" {
			t.Errorf("amount %v, want 1.00: the silent client's transaction is rolled back", got)
		}
		if err := conn.PingContext(t.Context()); err == nil {
			t.Error("a client that was silent for too long is still there")
		}
	})
}
