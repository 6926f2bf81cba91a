package e2e

import (
	"database/sql"
	"regexp"
	"slices"
	"testing"

	"locus/internal/test/servers"
	"locus/test/shop"
)

// A change whose condition reads rows of other shards changes the rows that one server changes: each statement runs on sharded tables, and
// on undeclared ones with the same rows.
func TestRowsAreFoundByRowsOfOtherShards(t *testing.T) {
	each(t, shop.Options{User: ", scatter_writes: allow"}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		tables := regexp.MustCompile(`\b(people|visits|towns)\b`)
		alone := func(query string) string { return tables.ReplaceAllString(query, "${1}_alone") }
		for _, table := range []struct{ text, comment string }{
			{"CREATE TABLE people (id INT NOT NULL PRIMARY KEY, town INT NOT NULL, name VARCHAR(20) NOT NULL)", "locus: owner=id"},
			{"CREATE TABLE visits (owner INT NOT NULL, n VARCHAR(10) NOT NULL, town INT NOT NULL, v INT NOT NULL DEFAULT 0, at DATETIME NULL, PRIMARY KEY (owner, n))", "locus: owner=owner"},
			{"CREATE TABLE towns (id INT NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL)", ""},
		} {
			exec(t, db, table.text+" COMMENT '"+table.comment+"'")
			exec(t, db, alone(table.text))
		}
		both := func(query string, args ...any) (sharded, single sql.Result) {
			t.Helper()
			return exec(t, db, query, args...), exec(t, db, alone(query), args...)
		}
		fill := func() {
			for _, table := range []string{"people", "visits", "towns"} {
				both("DELETE FROM " + table)
			}
			for i := range 30 {
				both("INSERT INTO people VALUES (?, ?, ?)", i, i%4, []string{"Ann", "Bob", "Zoë"}[i%3])
				both("INSERT INTO visits (owner, n, town) VALUES (?, 'a', ?), (?, 'ß', ?)", i, i%5, i, i%7)
			}
			both("INSERT INTO towns VALUES (0, 'Rome'), (1, 'Oslo'), (2, 'Bonn'), (3, 'Lima')")
		}
		for _, c := range []struct {
			query string
			args  []any
		}{
			{"DELETE FROM visits WHERE town IN (SELECT p.town FROM people p WHERE p.id = 7)", nil},
			{"DELETE FROM visits WHERE town IN (SELECT p.town FROM people p WHERE p.name = ?) AND n = ?", []any{"Zoë", "ß"}},
			{"DELETE FROM visits WHERE owner = 3 AND town IN (SELECT town FROM people)", nil},
			{"UPDATE visits SET v = v + ? WHERE town = (SELECT MAX(town) FROM people) AND n <> ?", []any{5, "a"}},
			{"UPDATE visits JOIN people p ON p.town = visits.town SET visits.v = visits.town + 1 WHERE p.id < ?", []any{3}},
			{"UPDATE visits AS x, towns AS c SET x.v = 9, x.n = CONCAT(x.n, ?) WHERE c.id = x.town AND c.name = 'Oslo'", []any{"it's"}},
			{"UPDATE visits SET v = 7 -- all\n, at = '2026-01-01' WHERE town IN (SELECT id FROM towns WHERE name > 'M' /* 2 */) -- or less", nil},
			{"UPDATE visits SET at = NOW() WHERE town IN (SELECT id FROM towns) AND NOW() > '2026-01-01'", nil},
			{"DELETE x FROM visits x JOIN towns c ON c.id = x.town WHERE c.name LIKE ?", []any{"%o%"}},
			{"DELETE x FROM towns c LEFT JOIN visits x ON x.town = c.id", nil},
			{"DELETE FROM visits WHERE NOT EXISTS (SELECT 1 FROM towns WHERE towns.id = visits.town) -- far", nil},
			{"UPDATE visits SET v = 3, town = town + 10 WHERE EXISTS (SELECT 1 FROM people p WHERE p.name = 'Bob' AND p.town = visits.town)", nil},
			{"DELETE FROM visits WHERE town IN (SELECT id FROM towns WHERE id > 100)", nil},
			{"DELETE FROM people WHERE (SELECT COUNT(*) FROM visits WHERE visits.town = people.town AND n = 'a') < 7", nil},
			{"DELETE p FROM people p, (SELECT town, COUNT(*) AS k FROM visits GROUP BY town) g WHERE g.town = p.town AND g.k > ?", []any{10}},
		} {
			fill()
			sharded, single := both(c.query, c.args...)
			changed, err := sharded.RowsAffected()
			want, wantErr := single.RowsAffected()
			if err != nil || wantErr != nil || changed != want {
				t.Errorf("%s: %d rows were changed, want %d (%v, %v)", c.query, changed, want, err, wantErr)
			}
			for _, read := range []string{"SELECT owner, n, town, v, at IS NULL FROM visits ORDER BY owner, n", "SELECT id FROM people ORDER BY id"} {
				if got, want := rows(t, db, read), rows(t, db, alone(read)); !slices.Equal(got, want) {
					t.Errorf("%s: then %s returns\n%q, want\n%q", c.query, read, got, want)
				}
			}
		}
		if got := number(t, db, "SELECT COUNT(DISTINCT at) FROM visits"); got > 1 {
			t.Errorf("one statement has written %v times", got)
		}
		fill()
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		exec(t, tx, "DELETE FROM people WHERE id < 28")
		exec(t, tx, "DELETE FROM visits WHERE town NOT IN (SELECT town FROM people)")
		if got := rows(t, tx, "SELECT DISTINCT town FROM visits ORDER BY town"); !slices.Equal(got, []string{"0", "1"}) {
			t.Errorf("towns %q are left in the transaction", got)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		if got := number(t, db, "SELECT COUNT(*) FROM visits"); got != 60 {
			t.Errorf("%v visits after the rollback", got)
		}
		if self := "DELETE FROM visits WHERE town IN (SELECT town FROM visits WHERE v > 0)"; s.Servers[0].Engine() == servers.MySQL {
			_, err = db.Exec(self)
			refused(t, err, 1235, "locus-1103")
		} else {
			exec(t, db, self)
		}
		for _, query := range []string{
			"UPDATE visits JOIN towns c ON c.id = visits.town SET visits.v = c.id",
			"UPDATE visits JOIN towns c ON c.id = visits.town SET visits.v = 1, c.name = 'x'",
			"UPDATE visits SET v = (SELECT MAX(town) FROM people)",
			"UPDATE visits JOIN towns c ON c.id = visits.town SET visits.v = visits.v + 1, visits.town = visits.v",
			"UPDATE visits SET v = 77 WHERE 1 / (town - 1) IS NULL AND town IN (SELECT id FROM towns)", // a division by zero
			"DELETE FROM visits WHERE n = 0 AND town IN (SELECT id FROM towns)",                        // comparing texts that are no numbers gives warnings
			"DELETE FROM visits WHERE town IN (SELECT id FROM towns WHERE name = 0)",
			"DELETE FROM visits WHERE town IN (SELECT town FROM people) LIMIT 3",
		} {
			_, err = db.Exec(query)
			refused(t, err, 1235, "locus-11")
		}
		one, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer one.Close()
		if _, err := one.ExecContext(t.Context(), "SET sql_safe_updates = 1"); err != nil {
			t.Fatal(err)
		}
		_, err = one.ExecContext(t.Context(), "DELETE FROM visits WHERE town IN (SELECT id FROM towns)")
		refused(t, err, 1235, "sql_safe_updates")
		if _, err := one.ExecContext(t.Context(), "SET sql_safe_updates = 0"); err != nil {
			t.Fatal(err)
		}
		if got := number(t, db, "SELECT COUNT(*) FROM visits WHERE v = 0"); got != 60 {
			t.Errorf("%v visits are as before", got)
		}
	})
}
