package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
	"locus/proxy/txn"
	"locus/test/shop"
)

func begin(t *testing.T, db *sql.DB) *sql.Tx {
	t.Helper()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback() }) // whatever the result of the test, its locks are released
	return tx
}

func TestTransactionsOfOneShard(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		tx := begin(t, db)
		exec(t, tx, "INSERT INTO test_order (buyer_uid, amount) VALUES (42, ?)", 5)
		if got := number(t, tx, "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 42"); got != 1 {
			t.Errorf("the transaction sees %d rows of its own, want 1", got)
		}
		if got := number(t, db, "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 42"); got != 0 {
			t.Errorf("others see %d uncommitted rows, want 0", got)
		}
		exec(t, tx, "SAVEPOINT a")
		exec(t, tx, "UPDATE test_order SET amount = 7 WHERE buyer_uid = ?", 42)
		exec(t, tx, "ROLLBACK TO a")
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if got := rows(t, db, "SELECT amount, version FROM test_order WHERE buyer_uid = 42"); fmt.Sprint(got) != "[5.00 1]" {
			t.Errorf("after rollback to the savepoint and commit: %v", got)
		}
		tx = begin(t, db)
		exec(t, tx, "DELETE FROM test_order WHERE buyer_uid = ?", 42)
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		if got := number(t, db, "SELECT COUNT(*) FROM test_order"); got != 1 {
			t.Errorf("%d rows after a rolled back delete, want 1", got)
		}
	})
}

func TestATransactionThatNeedsASecondShard(t *testing.T) {
	each(t, shop.Options{Spanning: txn.Single}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		tx := begin(t, db)
		exec(t, tx, "INSERT INTO test_order (buyer_uid) VALUES (?)", 42)
		_, err := tx.Exec("INSERT INTO test_order (buyer_uid) VALUES (?)", 0)
		refused(t, err, 1235, "shard s0")
		if _, err = tx.Query("SELECT COUNT(*) FROM test_order"); err == nil {
			t.Error("a read of all shards joined a transaction of one")
		}
		// The refused statements had no effect, and the transaction continues.
		exec(t, tx, "INSERT INTO test_order (buyer_uid) VALUES (?)", 1)
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if got := number(t, db, "SELECT COUNT(*) FROM test_order"); got != 2 {
			t.Errorf("%d rows, want 2", got)
		}
	})
}

func TestATransactionOverShards(t *testing.T) {
	for name, spanning := range map[string]txn.Spanning{"xa": txn.XA, "multi": txn.Multi} {
		t.Run(name, func(t *testing.T) { transactionOverShards(t, spanning) })
	}
}

func transactionOverShards(t *testing.T, spanning txn.Spanning) {
	each(t, shop.Options{Spanning: spanning}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		tx := begin(t, db)
		exec(t, tx, "INSERT INTO test_order (buyer_uid, status) VALUES (?, 'a'), (?, 'b')", 42, 0)
		exec(t, tx, "SAVEPOINT p")
		exec(t, tx, "UPDATE test_order SET status = 'x' WHERE buyer_uid = 0")
		exec(t, tx, "ROLLBACK TO SAVEPOINT p")
		if got := number(t, tx, "SELECT COUNT(*) FROM test_order"); got != 2 {
			t.Errorf("the transaction sees %d rows of its own, want 2", got)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if got := rows(t, db, "SELECT status FROM test_order ORDER BY status"); fmt.Sprint(got) != "[a b]" {
			t.Errorf("committed %v", got)
		}
		tx = begin(t, db)
		exec(t, tx, "INSERT INTO test_order (buyer_uid) VALUES (?), (?)", 42, 0)
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		if got := number(t, db, "SELECT COUNT(*) FROM test_order"); got != 2 {
			t.Errorf("%d rows after a rollback over two shards, want 2", got)
		}
	})
}

func TestAnInsertForSeveralShardsIsAllOrNothing(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		// The shards disagree about this column, so that one of them refuses.
		if _, err := s.Shard(t, 1).Exec("ALTER TABLE test_order MODIFY status VARCHAR(3) NOT NULL"); err != nil {
			t.Fatal(err)
		}
		_, err := db.Exec("INSERT INTO test_order (buyer_uid, status) VALUES (?, 'longer'), (?, 'longer')", 42, 0)
		refused(t, err, 1406, "status")
		if got := number(t, db, "SELECT COUNT(*) FROM test_order"); got != 0 {
			t.Errorf("%d rows of a refused insert, want 0", got)
		}
	})
}

func TestAutocommitOff(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{})
		db := s.DB(t, nil)
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
		run("SET autocommit = 0")
		run("INSERT INTO test_order (buyer_uid) VALUES (42)")
		if got := number(t, db, "SELECT COUNT(*) FROM test_order"); got != 0 {
			t.Errorf("%d rows before the commit, want 0", got)
		}
		run("COMMIT")
		run("INSERT INTO test_order (buyer_uid) VALUES (0)")
		run("SET autocommit = 1") // commits
		if got := number(t, db, "SELECT COUNT(*) FROM test_order"); got != 2 {
			t.Errorf("%d rows after the commits, want 2", got)
		}
	})
}

func TestAClientThatLeavesRollsBack(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{})
		db := s.DB(t, nil)
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.ExecContext(t.Context(), "BEGIN"); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.ExecContext(t.Context(), "INSERT INTO test_order (buyer_uid) VALUES (42)"); err != nil {
			t.Fatal(err)
		}
		_ = conn.Raw(func(any) error { return context.Canceled })
		_ = conn.Raw(func(c any) error { return c.(interface{ Close() error }).Close() })
		_ = conn.Close()
		exec(t, db, "UPDATE test_order SET amount = 1 WHERE buyer_uid = 42") // would wait for the lock
		if got := number(t, db, "SELECT COUNT(*) FROM test_order"); got != 0 {
			t.Errorf("%d rows of a transaction whose client left, want 0", got)
		}
	})
}

func TestReadsOfNoShardInParticularDoNotPlaceATransaction(t *testing.T) {
	each(t, shop.Options{Spanning: txn.Single}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		exec(t, db, "INSERT INTO product VALUES (1, 'cup', 9)")
		tx := begin(t, db)
		for _, q := range []string{"SELECT 1", "SELECT COUNT(*) FROM product"} {
			if got := number(t, tx, q); got != 1 {
				t.Errorf("%s = %d, want 1", q, got)
			}
		}
		exec(t, tx, "INSERT INTO test_order (buyer_uid) VALUES (?)", 0) // on s1
		if got := number(t, tx, "SELECT COUNT(*) FROM test_order o JOIN product p ON p.product_id = 1 WHERE o.buyer_uid = ?", 0); got != 1 {
			t.Errorf("joined with a global table: %d rows, want 1", got)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if got := number(t, s.Shard(t, 1), "SELECT COUNT(*) FROM test_order"); got != 1 {
			t.Errorf("%d rows on s1, want 1", got)
		}
	})
}

// TestALostConnectionEndsTheTransaction kills a transaction's connection at the shard. The client gets an error, and
// none of its later statements runs outside the transaction.
func TestALostConnectionEndsTheTransaction(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		tx := begin(t, db)
		exec(t, tx, "INSERT INTO test_order (buyer_uid) VALUES (?)", 42)
		shard := s.Shard(t, 0)
		for _, id := range rows(t, shard, "SELECT ID FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND USER = ? AND DB = ?", s.Servers[0].User, s.Schema) {
			_, _ = shard.Exec("KILL " + id)
		}
		_, err := tx.Exec("INSERT INTO test_order (buyer_uid) VALUES (?)", 42)
		refused(t, err, 1158, "rolled back")
		if _, err = tx.Exec("INSERT INTO test_order (buyer_uid) VALUES (?)", 42); err == nil {
			t.Error("a statement of the lost transaction ran")
		}
		if err := tx.Commit(); err == nil {
			t.Error("the lost transaction was committed")
		}
		if got := number(t, db, "SELECT COUNT(*) FROM test_order"); got != 0 {
			t.Errorf("%d rows of a lost transaction, want 0", got)
		}
	})
}

// TestSavepointsThatComeFirst sets savepoints before anything else, with autocommit
// off.
func TestSavepointsThatComeFirst(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, _ *shop.Shop, db *sql.DB) {
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		run := func(statement string) {
			t.Helper()
			if _, err := conn.ExecContext(t.Context(), statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
		settings := func(want int) {
			t.Helper()
			var got int
			if err := conn.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM setting").Scan(&got); err != nil || got != want {
				t.Fatalf("%d settings, want %d (%v)", got, want, err)
			}
		}
		insert := "INSERT INTO setting VALUES ('a', 'b')"
		run("SET autocommit = 0")
		run("SAVEPOINT first")
		run(insert)
		settings(1)
		run("ROLLBACK TO SAVEPOINT first")
		settings(0)
		run(insert)
		run("RELEASE SAVEPOINT first")
		run("COMMIT")
		run("SAVEPOINT second")
		run("DELETE FROM setting")
		run("ROLLBACK TO SAVEPOINT second")
		run("COMMIT")
		settings(1)
		run("ROLLBACK")
		run("SAVEPOINT third")
		run("RELEASE SAVEPOINT third")
		if _, err := conn.ExecContext(t.Context(), "ROLLBACK TO SAVEPOINT third"); err == nil {
			t.Error("a released savepoint is there")
		}
		run("SET autocommit = 1")
		run("DELETE FROM setting")
	})
}

// TestNoLockOutlivesAStatementWithoutATransaction runs statements that take metadata locks and open no transaction,
// with autocommit off, on a connection that is then returned. Another session drops the locked objects on its own
// connection.
func TestNoLockOutlivesAStatementWithoutATransaction(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{})
		db := s.DB(t, func(c *mysql.Config) { c.Params = map[string]string{"lock_wait_timeout": "5"} })
		locking := s.DB(t, func(c *mysql.Config) { c.Params = map[string]string{"autocommit": "0"} })
		for _, test := range []struct{ create, use, drop string }{
			{"CREATE PROCEDURE locked() SELECT 1", "CALL locked()", "DROP PROCEDURE locked"},
			{"CREATE TABLE locked (a INT) ENGINE = MyISAM", "SELECT * FROM locked", "DROP TABLE locked"},
			{"CREATE TABLE locked (a INT) ENGINE = MyISAM", "INSERT INTO locked VALUES (1)", "FLUSH TABLES"},
		} {
			exec(t, db, test.create)
			tx := begin(t, db)
			number(t, tx, "SELECT COUNT(*) FROM setting")
			if _, err := locking.ExecContext(t.Context(), test.use); err != nil {
				t.Fatalf("%s: %v", test.use, err)
			}
			if _, err := tx.ExecContext(t.Context(), test.drop); err != nil {
				t.Errorf("%s after %s: %v", test.drop, test.use, err)
			}
			_ = tx.Rollback()
		}
	})
}

// Clients that change the same row of a global table wait for each other on one shard, and never each for the other
// on two shards: no server would detect that deadlock, and only innodb_lock_wait_timeout would end it.
func TestTheSameCopiesAreChangedByAll(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		const clients, rounds = 4, 20
		exec(t, db, "INSERT INTO product VALUES (1, 'cup', 0)")
		short := s.DB(t, func(c *mysql.Config) { c.Params = map[string]string{"innodb_lock_wait_timeout": "5"} })
		var running sync.WaitGroup
		for client := range clients {
			running.Go(func() {
				for i := range rounds {
					if err := raises(short, client%2 == 0); err != nil {
						t.Errorf("client %d, round %d: %v", client, i, err)
						return
					}
				}
			})
		}
		running.Wait()
		for i := range s.Servers {
			if got := number(t, s.Shard(t, i), "SELECT CAST(price AS SIGNED) FROM product WHERE product_id = 1"); got != clients*rounds {
				t.Errorf("shard %d: %d, want %d", i, got, clients*rounds)
			}
		}
	})
}

// raises changes the row by one statement, or in a transaction that has read it.
func raises(db *sql.DB, alone bool) error {
	if alone {
		_, err := db.Exec("UPDATE product SET price = price + 1 WHERE product_id = 1")
		return err
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // the transaction or its connection has ended
	var price float64
	if err := tx.QueryRow("SELECT price FROM product WHERE product_id = 1 FOR UPDATE").Scan(&price); err != nil {
		return err
	}
	if _, err := tx.Exec("UPDATE product SET price = ? WHERE product_id = 1", price+1); err != nil {
		return err
	}
	return tx.Commit()
}
