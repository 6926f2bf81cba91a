package e2e

import (
	"database/sql"
	"strconv"
	"testing"

	"locus/test/shop"
)

// A change of several shards with a LIMIT changes exactly as many rows, or all that match. The program that purges rows in pieces ends.
func TestALimitIsUsedUpByTheShards(t *testing.T) {
	each(t, shop.Options{User: ", scatter_writes: allow"}, func(t *testing.T, _ *shop.Shop, db *sql.DB) {
		exec(t, db, "CREATE TABLE log (owner INT NOT NULL, n INT NOT NULL, v INT NOT NULL DEFAULT 0, PRIMARY KEY (owner, n)) COMMENT 'locus: owner=owner'")
		for owner := range 20 {
			exec(t, db, "INSERT INTO log (owner, n) VALUES (?, 1), (?, 2), (?, 3)", owner, owner, owner)
		}
		left, updated := 60, 0
		for limit := range 12 {
			for protocol, run := range map[string]func() sql.Result{
				"text":     func() sql.Result { return exec(t, db, "UPDATE log SET v = 1 WHERE v = 0 LIMIT "+strconv.Itoa(limit)) },
				"prepared": func() sql.Result { return exec(t, db, "UPDATE log SET v = ? WHERE v = ? LIMIT ?", 1, 0, limit) },
			} {
				updated = min(60, updated+limit)
				run()
				if got := number(t, db, "SELECT COUNT(*) FROM log WHERE v = 1"); int(got) != updated {
					t.Errorf("%s, LIMIT %d: %d rows are updated, want %d", protocol, limit, got, updated)
				}
			}
		}
		// Servers count in the client's language.
		one, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer one.Close()
		for _, text := range []string{"SET lc_messages = 'de_DE'", "UPDATE log SET v = 2 WHERE v = 1 LIMIT 5", "SET lc_messages = DEFAULT"} {
			if _, err := one.ExecContext(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		if got := number(t, db, "SELECT COUNT(*) FROM log WHERE v = 2"); got != 5 {
			t.Errorf("%d rows are updated by statements with messages in German, want 5", got)
		}
		exec(t, db, "UPDATE log SET v = 1")
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		exec(t, tx, "DELETE FROM log WHERE v = 1 LIMIT 59")
		if got := number(t, tx, "SELECT COUNT(*) FROM log"); got != 1 {
			t.Errorf("%d rows are left in the transaction", got)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		for left > 0 {
			want := min(left, 7)
			if got, err := exec(t, db, "DELETE FROM log WHERE n > ? LIMIT 7", 0).RowsAffected(); err != nil || int(got) != want {
				t.Fatalf("%d rows, %v, of %d", got, err, left)
			}
			left -= want
		}
		if got, err := exec(t, db, "DELETE FROM log LIMIT 7").RowsAffected(); err != nil || got != 0 {
			t.Errorf("%d rows, %v", got, err)
		}
		_, err = db.Exec("DELETE FROM log ORDER BY n LIMIT 7")
		refused(t, err, 1235, "locus-1103")
		for _, query := range []string{"UPDATE IGNORE log SET v = 2 LIMIT 7", "DELETE IGNORE FROM log LIMIT 7"} {
			_, err = db.Exec(query)
			refused(t, err, 1235, "locus-1103")
		}
	})
}
