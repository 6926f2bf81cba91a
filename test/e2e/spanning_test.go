package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"

	"locus/proxy"
	"locus/proxy/twophase"
	"locus/router"
	"locus/router/cluster"
	"locus/test/shop"
)

// Buyer 42 is on the first shard, 0 on the second.

// spanning begins a transaction that has written on both shards.
func spanning(t *testing.T, db *sql.DB) *sql.Tx {
	t.Helper()
	tx := begin(t, db)
	exec(t, tx, "INSERT INTO test_order (buyer_uid, status) VALUES (?, 'x')", 42)
	exec(t, tx, "INSERT INTO test_order (buyer_uid, status) VALUES (?, 'x')", 0)
	return tx
}

// prepared returns the branches in doubt on a shard, including the branches of other tests.
func prepared(t *testing.T, s *shop.Shop, i int) int {
	t.Helper()
	rows, err := s.Shard(t, i).Query("XA RECOVER")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		n++
	}
	return n
}

func allOrders(t *testing.T, db *sql.DB) int64 {
	t.Helper()
	return number(t, db, "SELECT COUNT(*) FROM test_order")
}

func TestACommitInTwoPhasesLeavesNothing(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		if err := spanning(t, db).Commit(); err != nil {
			t.Fatal(err)
		}
		if err := spanning(t, db).Rollback(); err != nil {
			t.Fatal(err)
		}
		if got := allOrders(t, db); got != 2 {
			t.Errorf("%d rows, want 2", got)
		}
		for i := range 2 {
			if n := prepared(t, s, i); n > 0 {
				t.Errorf("%d branches are left on s%d", n, i)
			}
			until(t, "decisions are removed", func() bool {
				return number(t, s.Shard(t, i), "SELECT COUNT(*) FROM locus.decision WHERE committed = 1") == 0
			})
		}
		counts := &s.Proxy.Status().Counts.Transactions
		if counts.Several(twophase.Committed) != 1 || counts.Several(twophase.RolledBack) != 1 {
			t.Errorf("counted: %d committed, %d rolled back, want 1 and 1", counts.Several(twophase.Committed), counts.Several(twophase.RolledBack))
		}
	})
}

// TestTransactionsOfOneShardPayNothing checks the statements that the server received.
func TestTransactionsOfOneShardPayNothing(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		sent := sentTo(t, s, 0, func() {
			tx := begin(t, db)
			if got := number(t, tx, "SELECT 1"); got != 1 { // places nothing
				t.Errorf("SELECT 1 = %d", got)
			}
			exec(t, tx, "UPDATE test_order SET amount = 1 WHERE buyer_uid = 42")
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
			tx = begin(t, db)
			exec(t, tx, "UPDATE test_order SET amount = 1 WHERE buyer_uid = 0") // on the other
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
		})
		if strings.Contains(sent, "XA ") || strings.Contains(sent, "locus.decision") {
			t.Errorf("the shard was sent\n%s", sent)
		}
		if !strings.Contains(sent, "COMMIT") {
			t.Errorf("the log of the server has no COMMIT:\n%s", sent)
		}
	})
}

// sentTo returns the statements that sessions of this shop sent to a shard in the meantime. Recovery also queries the
// shards, on connections without a database.
func sentTo(t *testing.T, s *shop.Shop, i int, do func()) string {
	t.Helper()
	shard := s.Shard(t, i)
	exec(t, shard, "SET GLOBAL log_output = 'TABLE'")
	exec(t, shard, "TRUNCATE mysql.general_log")
	exec(t, shard, "SET GLOBAL general_log = ON")
	do()
	exec(t, shard, "SET GLOBAL general_log = OFF")
	ids := rows(t, shard, "SELECT DISTINCT thread_id FROM mysql.general_log WHERE argument LIKE '%test_order%' OR argument LIKE 'COMMIT%'")
	if len(ids) == 0 {
		return ""
	}
	return strings.Join(rows(t, shard, "SELECT CONVERT(argument USING utf8mb4) FROM mysql.general_log WHERE thread_id IN ("+strings.Join(ids, ", ")+")"), "\n")
}

func TestPartsThatOnlyReadAreEndedFirst(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		sent := sentTo(t, s, 1, func() {
			tx := begin(t, db)
			if got := number(t, tx, "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 42"); got != 0 {
				t.Errorf("%d rows", got)
			}
			exec(t, tx, "INSERT INTO test_order (buyer_uid) VALUES (?)", 0)
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
		})
		if !strings.Contains(sent, "ONE PHASE") || strings.Contains(sent, "XA PREPARE") {
			t.Errorf("the shard was sent\n%s", sent)
		}
		if got := allOrders(t, db); got != 1 {
			t.Errorf("%d rows, want 1", got)
		}
	})
}

func TestAccessModeAndIsolationReachEveryShard(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		tx, err := db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := ordersOf(t, tx, 42) + ordersOf(t, tx, 0); got != 0 {
			t.Errorf("%d rows", got)
		}
		for _, buyer := range []int{42, 0} {
			_, err = tx.Exec("INSERT INTO test_order (buyer_uid) VALUES (?)", buyer)
			refused(t, err, 1792, "READ ONLY")
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		for _, level := range []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead} {
			tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: level})
			if err != nil {
				t.Fatal(err)
			}
			before := ordersOf(t, tx, 42) + ordersOf(t, tx, 0)
			exec(t, db, "INSERT INTO test_order (buyer_uid) VALUES (?), (?)", 42, 0)
			want := before
			if level == sql.LevelReadCommitted {
				want += 2
			}
			if got := ordersOf(t, tx, 42) + ordersOf(t, tx, 0); got != want {
				t.Errorf("%v: %d rows after others committed 2, %d before", level, got, before)
			}
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func ordersOf(t *testing.T, tx *sql.Tx, buyer int) int64 {
	t.Helper()
	return number(t, tx, "SELECT COUNT(*) FROM test_order WHERE buyer_uid = ?", buyer)
}

func TestSavepointsOverShards(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		tx := begin(t, db)
		exec(t, tx, "INSERT INTO test_order (buyer_uid, status) VALUES (?, 'a')", 42)
		exec(t, tx, "SAVEPOINT p") // the second shard does not take part yet
		exec(t, tx, "INSERT INTO test_order (buyer_uid, status) VALUES (?, 'b'), (?, 'c')", 0, 42)
		exec(t, tx, "SAVEPOINT q")
		exec(t, tx, "INSERT INTO test_order (buyer_uid, status) VALUES (?, 'd')", 0)
		exec(t, tx, "ROLLBACK TO q")
		exec(t, tx, "RELEASE SAVEPOINT q")
		if got := rows(t, tx, "SELECT status FROM test_order ORDER BY status"); fmt.Sprint(got) != "[a b c]" {
			t.Errorf("after the first rollback: %v", got)
		}
		exec(t, tx, "ROLLBACK TO SAVEPOINT p")
		exec(t, tx, "INSERT INTO test_order (buyer_uid, status) VALUES (?, 'e')", 0)
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if got := rows(t, db, "SELECT status FROM test_order ORDER BY status"); fmt.Sprint(got) != "[a e]" {
			t.Errorf("committed: %v", got)
		}
	})
}

func TestAutocommitOffOverShards(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		run := func(query string) {
			t.Helper()
			if _, err := conn.ExecContext(t.Context(), query); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
		}
		count := func() int64 {
			t.Helper()
			var n int64
			if err := conn.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM test_order").Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		run("SET autocommit = 0")
		if n := count(); n != 0 { // counts both shards, in the session's first statement
			t.Errorf("%d rows", n)
		}
		run("INSERT INTO test_order (buyer_uid) VALUES (42)")
		run("INSERT INTO test_order (buyer_uid) VALUES (0)")
		if got := allOrders(t, db); got != 0 {
			t.Errorf("others see %d rows before the commit", got)
		}
		run("ROLLBACK")
		run("INSERT INTO test_order (buyer_uid) VALUES (42)") // joins by itself
		run("INSERT INTO test_order (buyer_uid) VALUES (0)")
		if rows, err := conn.QueryContext(t.Context(), "SHOW TABLES"); err == nil {
			_ = rows.Close()
		}
		run("COMMIT")
		if got := allOrders(t, db); got != 2 {
			t.Errorf("%d rows after the commit, want 2", got)
		}
		run("INSERT INTO test_order (buyer_uid) VALUES (42), (0)")
		run("SET autocommit = 1") // commits
		if got := allOrders(t, db); got != 4 {
			t.Errorf("%d rows after autocommit is on again, want 4", got)
		}
	})
}

func TestADeadlockOnOneShardRollsBackAll(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		exec(t, db, "INSERT INTO test_order (buyer_uid, status) VALUES (42, 'a'), (0, 'a'), (0, 'b')")
		update := "UPDATE test_order SET amount = amount + 1 WHERE buyer_uid = 0 AND status = ?"
		shard := s.Shard(t, 1)
		other := begin(t, shard)
		exec(t, other, "UPDATE test_order SET amount = 9") // everything there: not the victim
		exec(t, other, "DELETE FROM order_item")
		for range 50 {
			exec(t, other, "INSERT INTO product VALUES (?, 'weight', 1)", number(t, other, "SELECT COUNT(*) FROM product"))
		}
		_ = other.Rollback()

		tx := begin(t, db)
		exec(t, tx, "UPDATE test_order SET amount = 5 WHERE buyer_uid = 42")
		ids := rows(t, shard, "SELECT order_id FROM test_order ORDER BY status")
		byID := "UPDATE test_order SET amount = amount + 1 WHERE order_id = "
		exec(t, tx, byID+ids[0])
		other = begin(t, shard)
		exec(t, other, byID+ids[1])
		for i := range 50 {
			exec(t, other, "INSERT INTO product VALUES (?, 'weight', 1)", i)
		}
		answered := make(chan error, 1)
		go func() {
			_, err := other.ExecContext(context.WithoutCancel(t.Context()), byID+ids[0])
			answered <- err
		}()
		waiting(t, shard)
		_, err := tx.Exec(byID + ids[1])
		refused(t, err, 1213, "Deadlock")
		if err := <-answered; err != nil {
			t.Errorf("the other transaction: %v", err)
		}
		_ = other.Rollback()
		exec(t, tx, update, "none") // no transaction is open, so this statement is one by itself
		_ = tx.Commit()
		if got := rows(t, db, "SELECT amount FROM test_order WHERE buyer_uid = 42"); fmt.Sprint(got) != "[0.00]" {
			t.Errorf("the first shard has %v", got)
		}
	})
}

// TestATransactionGoesOnWhileAShardIsAway: statements that need the shard can be repeated.
func TestATransactionGoesOnWhileAShardIsAway(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		tx := begin(t, db)
		exec(t, tx, "INSERT INTO test_order (buyer_uid) VALUES (?)", 42)
		away := *s.Cluster
		away.Shards = maps.Clone(s.Cluster.Shards)
		shard := away.Shards["s1"]
		shard.Address = "127.0.0.1:1" // where nobody listens
		away.Shards["s1"] = shard
		s.Apply(&away)
		t.Cleanup(func() { s.Apply(s.Cluster) })
		until(t, "the shard is away", func() bool {
			_, err := db.Exec("UPDATE test_order SET amount = 1 WHERE buyer_uid = 0")
			return err != nil
		})
		_, err := tx.Exec("INSERT INTO test_order (buyer_uid) VALUES (?)", 0)
		refused(t, err, 1158, "not run")
		s.Apply(s.Cluster)
		until(t, "the statement has run", func() bool {
			_, err := tx.Exec("INSERT INTO test_order (buyer_uid) VALUES (?)", 0)
			if err != nil {
				refused(t, err, 1158, "not run")
			}
			return err == nil
		})
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if got := allOrders(t, db); got != 2 {
			t.Errorf("%d rows, want 2", got)
		}
	})
}

// TestAProcedureCanNotEndAPart: the proxy refuses the call on the home shard, and the server refuses it in an XA
// branch.
func TestAProcedureCanNotEndAPart(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		exec(t, s.Shard(t, 0), "CREATE PROCEDURE settle_it() BEGIN COMMIT; END")
		tx := spanning(t, db)
		_, err := tx.Exec("CALL settle_it()")
		refused(t, err, 1235, "locus-1302")
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		tx = begin(t, db)
		exec(t, tx, "INSERT INTO test_order (buyer_uid) VALUES (?)", 0)
		_, err = tx.Exec("CALL settle_it()")
		refused(t, err, 1399, "XAER_RMFAIL")
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		if got := allOrders(t, db); got != 0 {
			t.Errorf("%d rows, want 0", got)
		}
		tx = begin(t, db)
		exec(t, tx, "INSERT INTO test_order (buyer_uid) VALUES (?)", 42)
		exec(t, tx, "CALL settle_it()") // with one shard, as without the proxy
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		if got := allOrders(t, db); got != 1 {
			t.Errorf("%d rows, want 1", got)
		}
	})
}

func TestALostShardRollsBackAll(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		for lost := range 2 {
			tx := spanning(t, db)
			cut(t, s, lost)
			err := tx.Commit()
			refused(t, err, 1180, "rolled back on every shard")
			if got := allOrders(t, db); got != 0 {
				t.Errorf("s%d lost: %d rows, want 0", lost, got)
			}
		}
	})
}

// cut kills the connections of the shop's sessions at one shard.
func cut(t *testing.T, s *shop.Shop, i int) {
	t.Helper()
	shard := s.Shard(t, i)
	for _, id := range rows(t, shard, "SELECT ID FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND USER = ? AND DB = ?", s.Servers[i].User, s.Schema) {
		_, _ = shard.Exec("KILL " + id)
	}
}

// TestWhatIsLostInTheMiddleOfACommit cuts connections at named points of a commit.
func TestWhatIsLostInTheMiddleOfACommit(t *testing.T) {
	for _, test := range []struct {
		point string
		lost  int
		want  int64
	}{
		{"before-prepare", 0, 0},
		{"before-prepare", 1, 0},
		{"before-decision", 0, 0},
		{"before-decision", 1, 2}, // prepared is prepared
		{"after-decision", 1, 2},
	} {
		t.Run(fmt.Sprintf("%s, s%d", test.point, test.lost), func(t *testing.T) {
			var at atomic.Pointer[func(string)]
			o := shop.Options{Options: func(o *proxy.Options) {
				o.Stop = func(point string) {
					if f := at.Load(); f != nil {
						(*f)(point)
					}
				}
			}}
			each(t, o, func(t *testing.T, s *shop.Shop, db *sql.DB) {
				tx := spanning(t, db)
				f := func(point string) {
					if point == test.point {
						cut(t, s, test.lost)
					}
				}
				at.Store(&f)
				err := tx.Commit()
				at.Store(nil)
				if (err == nil) != (test.want > 0) {
					t.Errorf("COMMIT: %v", err)
				}
				until(t, "no branch is left", func() bool { return prepared(t, s, 0)+prepared(t, s, 1) == 0 })
				if got := allOrders(t, db); got != test.want {
					t.Errorf("%d rows, want %d", got, test.want)
				}
			})
		})
	}
}

// TestRecoveryForbidsALateDecision holds a commit before its decision until
// recovery has rolled its branch back.
func TestRecoveryForbidsALateDecision(t *testing.T) {
	var shard atomic.Pointer[sql.DB]
	o := shop.Options{Options: func(o *proxy.Options) {
		o.Stop = func(point string) {
			if db := shard.Load(); db != nil && point == "before-decision" {
				until(t, "recovery forbids the decision", func() bool {
					var n int
					err := db.QueryRow("SELECT COUNT(*) FROM locus.decision WHERE committed = 0").Scan(&n)
					return err == nil && n > 0
				})
			}
		}
	}}
	each(t, o, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		tx := spanning(t, db)
		exec(t, s.Shard(t, 0), "DELETE FROM locus.decision") // rows of other tests; the table exists by now
		shard.Store(s.Shard(t, 0))
		err := tx.Commit()
		shard.Store(nil)
		refused(t, err, 1180, "rolled back on every shard")
		until(t, "no branch is left", func() bool { return prepared(t, s, 0)+prepared(t, s, 1) == 0 })
		if got := allOrders(t, db); got != 0 {
			t.Errorf("%d rows, want 0", got)
		}
	})
}

func TestShardsThatLackTheRightsAreNotSpanned(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		exec(t, db, "INSERT INTO test_order (buyer_uid) VALUES (42), (0)")
		// The proxy uses another account at the second shard, which has fewer rights.
		shard := s.Shard(t, 1)
		_, _ = shard.Exec("DROP USER IF EXISTS poor@'%'")
		exec(t, shard, "CREATE USER poor@'%' IDENTIFIED BY '"+s.Servers[1].Password+"'")
		t.Cleanup(func() {
			if err := s.Servers[1].Execute(context.WithoutCancel(t.Context()), "DROP USER poor@'%'"); err != nil {
				t.Error(err)
			}
		})
		exec(t, shard, "GRANT ALL ON "+s.Schema+".* TO poor@'%'")
		exec(t, shard, "GRANT SELECT, SHOW VIEW, TRIGGER, EVENT ON *.* TO poor@'%'")
		poor := *s.Cluster
		poor.Shards = accounts(s.Cluster, "poor")
		s.Apply(&poor)
		until(t, "the other account is used", func() bool {
			rows(t, db, "SELECT status FROM test_order WHERE buyer_uid = 0")
			return number(t, shard, "SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'poor'") > 0
		})
		tx := begin(t, db)
		exec(t, tx, "INSERT INTO test_order (buyer_uid) VALUES (?)", 42)
		_, err := tx.Exec("INSERT INTO test_order (buyer_uid) VALUES (?)", 0)
		refused(t, err, 1235, "locus-1302")
		refused(t, err, 1235, "GRANT")
		if err := tx.Commit(); err != nil { // the rest of it goes on
			t.Fatal(err)
		}
		exec(t, db, "INSERT INTO test_order (buyer_uid) VALUES (?)", 0)
		if got := allOrders(t, db); got != 4 {
			t.Errorf("%d rows, want 4", got)
		}
	})
}

// accounts are a cluster's shards with another account for the second.
func accounts(c *cluster.Cluster, user string) map[router.ShardName]cluster.Shard {
	shards := maps.Clone(c.Shards)
	second := shards["s1"]
	second.User = user
	shards["s1"] = second
	return shards
}
