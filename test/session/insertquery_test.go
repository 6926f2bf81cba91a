package session

import (
	"errors"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"
	driver "github.com/go-sql-driver/mysql"

	"locus/test/shop"
)

// A statement that changes rows using a table of one shard can be prepared within a transaction on another
// shard.
func TestInsertFromAnotherShardIsPrepared(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		db := p.shop.DB(t, nil)
		for _, statement := range []string{
			"CREATE TABLE drafts (id INT PRIMARY KEY)", "INSERT INTO drafts VALUES (1), (2)", "CREATE FUNCTION doubled(n INT) RETURNS INT DETERMINISTIC NO SQL RETURN n * 2",
		} {
			if _, err := db.Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
		for buyer := 1; buyer <= 8; buyer++ { // on both shards
			tx, err := db.Begin()
			if err != nil {
				t.Fatal(err)
			}
			var n int
			if err := tx.QueryRow("SELECT COUNT(*) FROM test_order WHERE buyer_uid = ?", buyer).Scan(&n); err != nil {
				t.Fatal(err)
			}
			insert, err := tx.Prepare("INSERT INTO test_order (buyer_uid, amount, status) SELECT ?, 1, 'q' FROM drafts WHERE id < 3")
			if err != nil {
				t.Fatalf("buyer %d: %v", buyer, err)
			}
			result, err := insert.Exec(buyer)
			if err != nil {
				t.Fatalf("buyer %d: %v", buyer, err)
			}
			if rows, _ := result.RowsAffected(); rows != 2 {
				t.Errorf("buyer %d: %d rows were inserted", buyer, rows)
			}
			for _, text := range []string{
				"UPDATE test_order SET status = 'z' WHERE buyer_uid = ? AND amount IN (SELECT id FROM drafts)",
				"UPDATE test_order o JOIN drafts d ON d.id = o.amount SET o.status = 'y' WHERE o.buyer_uid = ?",
				"UPDATE test_order SET status = 'z' WHERE amount > ? AND amount IN (SELECT id FROM drafts)",
				"DELETE FROM test_order WHERE buyer_uid = ? AND amount IN (SELECT id + 90 FROM drafts)",
				"DELETE o FROM test_order o JOIN drafts d ON d.id = o.amount WHERE o.buyer_uid = ?",
				"REPLACE INTO test_order (buyer_uid, amount, status) SELECT ?, 1, 'q' FROM drafts WHERE id < 3",
				"UPDATE drafts SET id = id WHERE id IN (SELECT amount FROM test_order WHERE buyer_uid = ?)",
				"SELECT d.id, doubled(o.amount) FROM drafts d JOIN test_order o ON o.amount = d.id WHERE o.buyer_uid = ?", // can't be gathered
			} {
				if _, err := tx.Prepare(text); err != nil {
					t.Errorf("buyer %d: %s: %v", buyer, text, err)
				}
			}
			if err := tx.Rollback(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// INSERT … SELECT that finds no rows is refused too in a transaction that reads only.
func TestInsertOfNothingIntoAReadOnlyTransaction(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		db := p.shop.DB(t, nil)
		db.SetMaxOpenConns(1)
		must := func(statement string) {
			t.Helper()
			if _, err := db.Exec(statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
		const insert = "INSERT INTO test_order (buyer_uid, amount, status) SELECT id, 1, 'q' FROM drafts WHERE id < 3"
		refused := func(when string) {
			t.Helper()
			_, err := db.Exec(insert)
			if e, is := errors.AsType[*driver.MySQLError](err); !is || e.Number != mysql.ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION {
				t.Errorf("%s: %v", when, err)
			}
		}
		must("CREATE TABLE drafts (id INT PRIMARY KEY)")
		must("START TRANSACTION READ ONLY")
		refused("after START TRANSACTION READ ONLY")
		must("ROLLBACK")
		must(insert)
		must("SET SESSION TRANSACTION READ ONLY")
		refused("after SET SESSION TRANSACTION READ ONLY")
		must("SET TRANSACTION READ WRITE")
		must(insert)
		refused("after the transaction that writes")
		must("START TRANSACTION READ WRITE")
		must(insert)
		must("COMMIT")
	})
}
