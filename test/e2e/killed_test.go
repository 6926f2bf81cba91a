package e2e

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"testing"

	"locus/internal/test/servers"
	"locus/test/shop"
)

// A change of several shards that is killed while it waits for a lock on one of them changes nothing, and leaves no lock behind.
func TestChangesOfSeveralShardsAreKilled(t *testing.T) {
	each(t, shop.Options{User: ", scatter_writes: allow"}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		exec(t, db, "CREATE TABLE piece (owner INT NOT NULL PRIMARY KEY, v INT NOT NULL) COMMENT 'locus: owner=owner'")
		exec(t, db, "CREATE TABLE chosen (v INT NOT NULL PRIMARY KEY)")
		exec(t, db, "INSERT INTO chosen VALUES (0)")
		for owner := range 12 {
			exec(t, db, "INSERT INTO piece VALUES (?, 0)", owner)
		}
		queries := []string{
			"UPDATE piece SET v = 1 WHERE v = 0 ORDER BY owner LIMIT 12",
			"UPDATE piece SET v = 1 WHERE v IN (SELECT v FROM chosen)",
		}
		if s.Servers[0].Engine() == servers.MariaDB {
			queries = append(queries, "DELETE FROM piece WHERE v = 0 RETURNING owner")
		}
		for _, query := range queries {
			holder, err := db.Begin()
			if err != nil {
				t.Fatal(err)
			}
			exec(t, holder, "UPDATE piece SET v = v WHERE owner IN (3, 4, 5, 6, 7, 8)")
			waiter, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var id int64
			if err := waiter.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() {
				_, err := waiter.ExecContext(context.WithoutCancel(t.Context()), query)
				ended <- err
			}()
			servers.Eventually(t, "the statement runs", func() error {
				if !slices.Contains(rows(t, db, "SELECT info FROM information_schema.processlist WHERE id = ?", id), query) {
					return sql.ErrNoRows
				}
				return nil
			})
			exec(t, db, "KILL QUERY "+strconv.FormatInt(id, 10))
			refused(t, <-ended, 1317, "interrupted")
			if err := holder.Rollback(); err != nil {
				t.Fatal(err)
			}
			if got := number(t, db, "SELECT COUNT(*) FROM piece WHERE v = 0"); got != 12 {
				t.Errorf("%s: %v rows are as before", query, got)
			}
			exec(t, db, "UPDATE piece SET v = 0") // nobody holds a lock
			if _, err := waiter.ExecContext(t.Context(), "SELECT COUNT(*) FROM piece"); err != nil {
				t.Errorf("%s: the session: %v", query, err)
			}
			if err := waiter.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
