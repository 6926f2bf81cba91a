package e2e

import (
	"database/sql"
	"fmt"
	"slices"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
	"locus/test/shop"
)

// RETURNING is MariaDB's, and what GORM's driver asks MariaDB by default.
func TestReturning(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		db.SetMaxOpenConns(1)
		const insert = "INSERT INTO test_order (buyer_uid, amount) VALUES (?, ?) RETURNING order_id, buyer_uid"
		if s.Servers[0].Engine() == servers.MySQL {
			refusedWith(t, db, insert, 1064, 42, "1.00")
			return
		}
		first := rows(t, db, insert, 42, "1.00")
		id := number(t, db, "SELECT LAST_INSERT_ID()")
		if want := []string{fmt.Sprint(id, " 42")}; !slices.Equal(first, want) {
			t.Fatalf("an INSERT gave %v, want %v", first, want)
		}
		two := rows(t, db, "INSERT INTO test_order (buyer_uid, amount) VALUES (?, 2), (?, 3) RETURNING order_id, amount", 42, 42)
		last := number(t, db, "SELECT LAST_INSERT_ID()")
		if want := []string{fmt.Sprint(last, " 2.00"), fmt.Sprint(last+1, " 3.00")}; !slices.Equal(two, want) {
			t.Errorf("two rows gave %v, want %v", two, want)
		}

		refusedWith(t, db, "INSERT INTO test_order (buyer_uid, amount) VALUES (?, 2), (?, 3) RETURNING order_id", 1235, 42, 10001)
		if n := number(t, db, "SELECT COUNT(*) FROM test_order"); n != 3 {
			t.Errorf("%d rows, want 3: what was refused must not have happened", n)
		}

		const upsert = "INSERT INTO test_order (order_id, buyer_uid, amount) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE amount = VALUES(amount) RETURNING order_id, amount, version"
		if got, want := rows(t, db, upsert, id, 42, "9.00"), []string{fmt.Sprint(id, " 9.00 2")}; !slices.Equal(got, want) {
			t.Errorf("an update in place of an INSERT gave %v, want %v", got, want)
		}
		if got := number(t, db, "SELECT LAST_INSERT_ID()"); got != last {
			t.Errorf("LAST_INSERT_ID() %d behind an update, want %d", got, last)
		}
		rows(t, db, upsert, nil, 42, "7.00")
		fresh := number(t, db, "SELECT LAST_INSERT_ID()")
		if fresh == last || number(t, db, "SELECT COUNT(*) FROM test_order WHERE order_id = ? AND amount = 7", fresh) != 1 {
			t.Errorf("LAST_INSERT_ID() %d behind an INSERT that could have been an update; before it %d", fresh, last)
		}

		if got, want := rows(t, db, "DELETE FROM test_order WHERE order_id = ? RETURNING order_id, amount", id), []string{fmt.Sprint(id, " 9.00")}; !slices.Equal(got, want) {
			t.Errorf("a DELETE gave %v, want %v", got, want)
		}
		if got, want := rows(t, db, "REPLACE INTO test_order (order_id, buyer_uid, amount) VALUES (?, ?, ?) RETURNING amount", fresh, 42, 8), []string{"8.00"}; !slices.Equal(got, want) {
			t.Errorf("a REPLACE gave %v, want %v", got, want)
		}
		if n := number(t, db, "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 42"); n != 3 {
			t.Errorf("%d rows at the end, want 3", n)
		}
	})
}

func refusedWith(t *testing.T, db *sql.DB, query string, code uint16, args ...any) {
	t.Helper()
	r, err := db.Query(query, args...)
	if err == nil {
		for r.Next() {
		}
		err = r.Err()
		_ = r.Close()
	}
	if e, ok := err.(*mysql.MySQLError); !ok || e.Number != code { //nolint:errorlint // the driver's own
		t.Errorf("%s: %v, want error %d", query, err, code)
	}
}
