package e2e

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/test/shop"
)

// UPDATE and DELETE by a key without a gene run where the row is, for users who may not change rows on several
// shards.
func TestRowsAreFoundByKeysThatExist(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		exec(t, db, "CREATE TABLE meta (meta_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, post INT NOT NULL, part INT NOT NULL, value VARCHAR(20), PRIMARY KEY (meta_id), KEY (post)) COMMENT 'locus: owner=post'")
		for post := range 12 {
			exec(t, db, "INSERT INTO meta (post, part, value) VALUES (?, 1, 'a'), (?, 2, 'b')", post, post)
		}
		affected := func(query string, want int64, args ...any) {
			t.Helper()
			if got, err := exec(t, db, query, args...).RowsAffected(); err != nil || got != want {
				t.Errorf("%s %v: %d rows, %v; want %d", query, args, got, err, want)
			}
		}
		for id := range 24 {
			affected("UPDATE meta SET value = 'c' WHERE meta_id = ?", 1, id+1)
		}
		affected("UPDATE meta SET value = 'd' WHERE meta_id = 3 LIMIT 1", 1)
		affected("DELETE FROM meta WHERE meta_id = '4' AND post = post ORDER BY part LIMIT 1", 1)
		affected("DELETE FROM meta WHERE meta_id = 4", 0)
		affected("UPDATE meta SET value = 'e' WHERE meta_id IN (1, 3, 5, 7, 9, 11, 13, 24, NULL)", 8)
		affected("UPDATE meta AS m SET m.value = CONCAT(m.value, RAND() < 2) WHERE m.meta_id = 24 AND (m.part = 2 OR m.part = 3)", 1)
		affected("DELETE FROM meta WHERE meta_id IN (1, 3) AND value = 'x'", 0)
		affected("UPDATE meta SET value = 'f' WHERE meta_id IN (1, 3, 5, 7, 9, 11, 13) LIMIT 9", 7)
		affected("UPDATE meta SET value = 'e' WHERE meta_id IN (1, 3, 5, 7, 9, 11, 13) AND value = 'f' LIMIT 3", 3)
		affected("UPDATE meta SET value = 'e' WHERE meta_id IN (1, 3, 5, 7, 9, 11, 13) AND value = 'f' LIMIT 3", 3)
		affected("UPDATE meta SET value = 'e' WHERE meta_id IN (1, 3, 5, 7, 9, 11, 13) AND value = 'f' LIMIT 3", 1)
		affected("UPDATE meta SET value = 'h' WHERE meta_id IN (1, 3, 5, 7, 9, 11, 13) ORDER BY meta_id DESC LIMIT 2", 2)
		affected("UPDATE meta SET value = 'e' WHERE meta_id IN (11, 13) AND value = 'h' ORDER BY meta_id LIMIT 9", 2)
		if got := rows(t, db, "SELECT meta_id, post, value FROM meta WHERE value <> 'c' ORDER BY meta_id"); !slices.Equal(got,
			[]string{"1 0 e", "3 1 e", "5 2 e", "7 3 e", "9 4 e", "11 5 e", "13 6 e", "24 11 e1"}) {
			t.Errorf("%q", got)
		}
		for query, words := range map[string]string{
			"UPDATE meta SET value = 'x' WHERE meta_id IN (1, 3, 5, 7, 9, 11, 13) ORDER BY part + 1 LIMIT 9": "ORDER BY and LIMIT", // of several shards
			"UPDATE meta SET value = 'x' WHERE meta_id > 5":                                                  "scatter_writes",
			"UPDATE meta SET value = 'x' WHERE meta_id = 5 OR part = 1":                                      "scatter_writes",
			"DELETE FROM meta WHERE meta_id = '5a'":                                                          "scatter_writes",
			"DELETE FROM meta WHERE part = 1":                                                                "scatter_writes",
		} {
			_, err := db.Exec(query)
			refused(t, err, 1235, words)
		}
		if _, err := db.Exec("UPDATE meta SET nothing = 1 WHERE meta_id = 999"); err == nil || !strings.Contains(err.Error(), "Unknown column") {
			t.Errorf("error %v", err)
		}

		// In a transaction, rows that it has written are found, and rolled back with it.
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		r := exec(t, tx, "INSERT INTO meta (post, part, value) VALUES (77, 1, 'new')")
		id, err := r.LastInsertId()
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := exec(t, tx, fmt.Sprintf("UPDATE meta SET value = 'newer' WHERE meta_id = %d", id)).RowsAffected(); got != 1 {
			t.Errorf("%d rows", got)
		}
		if got, _ := exec(t, tx, "DELETE FROM meta WHERE meta_id = 24").RowsAffected(); got != 1 {
			t.Errorf("%d rows", got)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		if got := number(t, db, "SELECT COUNT(*) FROM meta"); got != 23 {
			t.Errorf("%d rows", got)
		}
	})
}

// Programs save a row with all its columns, including its owner, which does not change.
func TestTheOwnerOfARowIsSetToWhatItIs(t *testing.T) {
	for _, shards := range []int{1, 2} {
		each(t, shop.Options{Shards: shards}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
			exec(t, db, "CREATE TABLE meta (meta_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, post INT NOT NULL, value VARCHAR(20)) COMMENT 'locus: owner=post'")
			for post := range 12 {
				exec(t, db, "INSERT INTO meta (post, value) VALUES (?, 'a')", post)
			}
			for post := range 12 {
				r := exec(t, db, "UPDATE meta SET meta_id = ?, post = ?, value = 'b' WHERE meta_id = ?", post+1, post, post+1)
				if got, err := r.RowsAffected(); err != nil || got != 1 {
					t.Errorf("%d rows, %v", got, err)
				}
			}
			exec(t, db, "UPDATE meta SET post = 5, value = 'c' WHERE meta_id IN (6, 999)")
			exec(t, db, "UPDATE meta SET post = 5 WHERE meta_id = 999")
			for _, query := range []string{
				"UPDATE meta SET post = 3, value = 'x' WHERE meta_id = 6",
				"UPDATE meta SET post = 5, value = 'x' WHERE meta_id IN (6, 7)", // one of the two rows belongs to another owner
				"UPDATE meta SET post = 5, value = 'x' WHERE value = 'c'",
			} {
				_, err := db.Exec(query)
				refused(t, err, 1105, "locus-1204")
			}
			if got := rows(t, db, "SELECT meta_id, post, value FROM meta WHERE value <> 'b' OR post <> meta_id - 1 ORDER BY meta_id"); !slices.Equal(got, []string{"6 5 c"}) {
				t.Errorf("%q", got)
			}
		})
	}
}

// During the search no other transaction can remove the row.
func TestAFoundRowIsLocked(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{})
		db := s.DB(t, nil)
		exec(t, db, "CREATE TABLE meta (meta_id INT NOT NULL PRIMARY KEY, post INT NOT NULL, value INT NOT NULL) COMMENT 'locus: owner=post'")
		exec(t, db, "INSERT INTO meta VALUES (1, 1, 0)")
		done := make(chan error, 8)
		for range cap(done) {
			go func() {
				for range 5 {
					if _, err := db.Exec("UPDATE meta SET value = value + 1 WHERE meta_id = 1"); err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
		}
		for range cap(done) {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if got := number(t, db, "SELECT value FROM meta"); got != 40 {
			t.Errorf("%d", got)
		}
	})
}
