package e2e

import (
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
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

		refusedWith(t, db, "INSERT IGNORE INTO test_order (buyer_uid, amount) VALUES (?, 2), (?, 3) RETURNING order_id", 1235, 42, 10001)
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

// Rows that a statement writes on several shards are returned in the order of the statement, as Django's bulk_create needs them.
func TestReturningOfSeveralShards(t *testing.T) {
	each(t, shop.Options{User: ", scatter_writes: allow"}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		if s.Servers[0].Engine() == servers.MySQL {
			refusedWith(t, db, "DELETE FROM test_order RETURNING order_id", 1064)
			return
		}
		db.SetMaxOpenConns(1)
		exec(t, db, "CREATE TABLE log (id BIGINT AUTO_INCREMENT PRIMARY KEY, owner INT NOT NULL, part INT NOT NULL, v VARCHAR(20) NOT NULL DEFAULT 'new', UNIQUE KEY (owner, part)) COMMENT 'locus: owner=owner'")
		for protocol, insert := range map[string]func(verb, end string, from int) []string{
			"text": func(verb, end string, from int) []string {
				values := make([]string, 40)
				for i := range values {
					values[i] = fmt.Sprintf("(%d, %d)", i, from)
				}
				return rows(t, db, verb+" INTO log (owner, part) VALUES "+strings.Join(values, ", ")+end+" RETURNING id, owner, CONCAT(v, part)")
			},
			"prepared": func(verb, end string, from int) []string {
				var args []any
				for i := range 40 {
					args = append(args, i, from)
				}
				return rows(t, db, verb+" INTO log (owner, part) VALUES (?, ?)"+strings.Repeat(", (?, ?)", 39)+end+" RETURNING id, owner, CONCAT(v, part)", args...)
			},
		} {
			exec(t, db, "DELETE FROM log")
			check := func(what string, got []string, v string) {
				t.Helper()
				if len(got) != 40 {
					t.Fatalf("%s, %s: %d rows: %q", protocol, what, len(got), got)
				}
				first, _, _ := strings.Cut(got[0], " ")
				id, _ := strconv.Atoi(first)
				for i, row := range got {
					if want := fmt.Sprintf("%d %d %s", id+i, i, v); row != want {
						t.Errorf("%s, %s: row %d: %q, want %q", protocol, what, i, row, want)
					}
				}
			}
			inserted := insert("INSERT", "", 1)
			check("INSERT", inserted, "new1")
			last := number(t, db, "SELECT LAST_INSERT_ID()")
			if want := fmt.Sprint(last, " 0 new1"); inserted[0] != want {
				t.Errorf("%s: the first row is %q, want %q", protocol, inserted[0], want)
			}
			check("ON DUPLICATE KEY UPDATE", insert("INSERT", " ON DUPLICATE KEY UPDATE v = 'old'", 1), "old1")
			check("ON DUPLICATE KEY UPDATE of nothing", insert("INSERT", " ON DUPLICATE KEY UPDATE v = 'old'", 1), "old1")
			check("REPLACE", insert("REPLACE", "", 1), "new1")
		}
		if got := number(t, db, "SELECT COUNT(*) FROM log"); got != 40 {
			t.Errorf("%v rows", got)
		}
		// A statement that fails on one shard returns nothing, and changes nothing.
		refusedWith(t, db, "INSERT INTO log (owner, part) VALUES (100, 1), (101, 1), (102, 1), (103, 1), (7, 1), (104, 1) RETURNING id", 1062)
		refusedWith(t, db, "INSERT INTO log (owner, part, v) VALUES (100, 1, 'a'), (101, 1, 'b'), (102, 1, REPEAT('c', 30)) RETURNING id", 1406)
		if got := number(t, db, "SELECT COUNT(*) FROM log WHERE owner >= 100"); got != 0 {
			t.Errorf("%v rows of statements that have failed", got)
		}
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if got := rows(t, tx, "INSERT INTO log (owner, part) VALUES (200, 1), (201, 1), (202, 1), (203, 1) RETURNING owner"); !slices.Equal(got, []string{"200", "201", "202", "203"}) {
			t.Errorf("in a transaction: %q", got)
		}
		deleted := rows(t, tx, "DELETE FROM log WHERE owner < ? RETURNING owner, v", 8)
		slices.Sort(deleted)
		if want := []string{"0 new", "1 new", "2 new", "3 new", "4 new", "5 new", "6 new", "7 new"}; !slices.Equal(deleted, want) {
			t.Errorf("DELETE: %q, want %q", deleted, want)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		if got := number(t, db, "SELECT COUNT(*) FROM log"); got != 40 {
			t.Errorf("%v rows after the rollback", got)
		}
		if got := rows(t, db, "DELETE FROM log RETURNING id"); len(got) != 40 {
			t.Errorf("a DELETE of all rows returns %d", len(got))
		}
		refusedWith(t, db, "DELETE FROM log LIMIT 3 RETURNING id", 1235)
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
