package e2e

import (
	"database/sql"
	"testing"

	"locus/test/shop"
)

// A definition of a sharded table runs on every shard, and the next statement knows it. After a failure in the middle
// it can be repeated.
func TestDefinitionsOnEveryShard(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		db.SetMaxOpenConns(1)
		for owner := range 6 {
			exec(t, db, "INSERT INTO test_order (buyer_uid, amount) VALUES (?, 1)", owner)
		}
		exec(t, db, "ALTER TABLE test_order ADD COLUMN colour VARCHAR(10) NOT NULL DEFAULT 'red'")
		exec(t, db, "INSERT INTO test_order (buyer_uid, colour) VALUES (42, 'blue')")
		if got := number(t, db, "SELECT COUNT(*) FROM test_order WHERE colour = 'red'"); got != 6 {
			t.Errorf("%d rows of the old colour, want 6", got)
		}
		var first string
		if err := db.QueryRow("SELECT colour FROM test_order GROUP BY colour ORDER BY colour").Scan(&first); err != nil || first != "blue" {
			t.Errorf("the first colour is %q (%v), want blue", first, err)
		}

		exec(t, s.Shard(t, 0), "ALTER TABLE test_order ADD COLUMN size INT")
		exec(t, db, "ALTER TABLE test_order ADD COLUMN size INT")
		var level, code, message string
		if err := db.QueryRow("SHOW WARNINGS").Scan(&level, &code, &message); err != nil || code != "1060" {
			t.Errorf("SHOW WARNINGS: %s %s %s (%v), want 1060 of the shard that had it", level, code, message, err)
		}
		_, err := db.Exec("ALTER TABLE test_order ADD COLUMN size INT")
		refused(t, err, 1060, "size")

		// A shard that has executed one clause of several does not count as done.
		exec(t, s.Shard(t, 0), "ALTER TABLE test_order ADD COLUMN half INT")
		_, err = db.Exec("ALTER TABLE test_order ADD COLUMN half INT, ADD COLUMN other INT")
		refused(t, err, 1060, "it lacks `other`")
		exec(t, db, "ALTER TABLE test_order ADD COLUMN other INT")
		exec(t, s.Shard(t, 0), "ALTER TABLE test_order ADD COLUMN kind INT")
		_, err = db.Exec("ALTER TABLE test_order ADD COLUMN kind BIGINT")
		refused(t, err, 1060, "is another table there")
		exec(t, db, "ALTER TABLE test_order MODIFY COLUMN kind BIGINT")

		exec(t, s.Shard(t, 1), "INSERT INTO order_item (item_id, order_id, product_id) VALUES (1, 2, 9), (2, 2, 9)")
		_, err = db.Exec("CREATE UNIQUE INDEX one ON order_item (order_id, product_id)")
		refused(t, err, 1062, "it was done on s0")
		exec(t, s.Shard(t, 1), "DELETE FROM order_item WHERE item_id IN (1, 2)")
		exec(t, db, "CREATE UNIQUE INDEX one ON order_item (order_id, product_id)")
		exec(t, db, "DROP INDEX one ON order_item")
		exec(t, db, "TRUNCATE TABLE product")
		exec(t, db, "TRUNCATE test_order")
		if got := number(t, db, "SELECT COUNT(*) FROM test_order"); got != 0 {
			t.Errorf("%d rows after TRUNCATE", got)
		}
		exec(t, db, "ALTER TABLE test_order RENAME TO other")
		exec(t, db, "INSERT INTO other (buyer_uid) VALUES (42)")
		if got := number(t, db, "SELECT COUNT(*) FROM other"); got != 1 {
			t.Errorf("%d rows by the new name", got)
		}
	})
}
