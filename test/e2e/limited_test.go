package e2e

import (
	"database/sql"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

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
		_, err = db.Exec("DELETE FROM log ORDER BY n + 1 LIMIT 7")
		refused(t, err, 1235, "locus-1103")
		for _, query := range []string{"UPDATE IGNORE log SET v = 2 LIMIT 7", "DELETE IGNORE FROM log LIMIT 7"} {
			_, err = db.Exec(query)
			refused(t, err, 1235, "locus-1103")
		}
	})
}

// A change with ORDER BY and LIMIT changes the first rows of all shards, whatever the type of the ordering columns.
func TestTheFirstRowsOfAllShardsAreChanged(t *testing.T) {
	each(t, shop.Options{User: ", scatter_writes: allow"}, func(t *testing.T, _ *shop.Shop, db *sql.DB) {
		exec(t, db, "CREATE TABLE task (owner INT NOT NULL, n INT NOT NULL, prio INT NULL, name VARCHAR(20) CHARACTER SET utf8mb4 NOT NULL, due DATETIME(3) NOT NULL, "+
			"state ENUM('open', 'busy', 'done') NOT NULL DEFAULT 'open', v INT NOT NULL DEFAULT 0, PRIMARY KEY (owner, n)) COMMENT 'locus: owner=owner'")
		for owner := range 30 {
			var prio any = owner * 7 % 10
			if owner%9 == 0 {
				prio = nil
			}
			exec(t, db, "INSERT INTO task (owner, n, prio, name, due, state) VALUES (?, 1, ?, ?, '2026-01-01' + INTERVAL ? SECOND, ?)", owner, prio,
				[]string{"b", "A", "ä", "Z"}[owner%4]+strconv.Itoa(owner*11%30), owner*13%30, []string{"open", "busy", "done"}[owner%3])
		}
		for _, order := range []string{"n, owner", "prio, owner DESC", "prio DESC, n, owner", "name, owner", "name DESC, owner", "due, owner", "state DESC, due DESC, owner"} {
			for _, limit := range []int{0, 1, 4, 13, 40} {
				want := rows(t, db, "SELECT owner FROM task WHERE owner <> 3 ORDER BY "+order+" LIMIT "+strconv.Itoa(limit))
				slices.Sort(want)
				for protocol, run := range map[string]func() sql.Result{
					"text": func() sql.Result {
						return exec(t, db, "UPDATE task SET v = 1 WHERE owner <> 3 -- but one\n ORDER BY "+order+" LIMIT "+strconv.Itoa(limit))
					},
					"prepared": func() sql.Result {
						return exec(t, db, "UPDATE task SET v = ? WHERE owner <> ? AND name <> ? ORDER BY "+order+" LIMIT ?", 1, 3, "it's", limit)
					},
				} {
					changed, err := run().RowsAffected()
					got := rows(t, db, "SELECT owner FROM task WHERE v = 1")
					slices.Sort(got)
					if err != nil || int(changed) != len(want) || !slices.Equal(got, want) {
						t.Errorf("%s, ORDER BY %s LIMIT %d: %d rows, %v: %q, want %q", protocol, order, limit, changed, err, got, want)
					}
					exec(t, db, "UPDATE task SET v = 0")
				}
			}
		}
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		want := rows(t, tx, "SELECT owner FROM task ORDER BY due DESC LIMIT 25")
		exec(t, tx, "DELETE FROM task ORDER BY due LIMIT 5")
		if got := rows(t, tx, "SELECT owner FROM task ORDER BY due DESC"); !slices.Equal(got, want) {
			t.Errorf("left after the DELETE: %q, want %q", got, want)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		if got := number(t, db, "SELECT COUNT(*) FROM task"); got != 30 {
			t.Errorf("%v rows after the rollback", got)
		}
		for query, words := range map[string]string{
			"DELETE FROM task ORDER BY prio + 1 LIMIT 7":                               "locus-1103",
			"UPDATE task SET v = 1 WHERE name = 5 ORDER BY owner LIMIT 3":              "gives warnings", // comparing texts that are no numbers gives warnings
			"UPDATE task SET v = 1 WHERE 1 / (prio - 5) > 5 ORDER BY owner, n LIMIT 3": "gives warnings", // a division by zero
		} {
			_, err = db.Exec(query)
			refused(t, err, 1235, words)
		}
	})
}

// Workers take the first rows of a table at the same time, as from a queue. Each row is taken once, and no deadlock
// occurs.
func TestWorkersTakeTheFirstRows(t *testing.T) {
	each(t, shop.Options{User: ", scatter_writes: allow"}, func(t *testing.T, _ *shop.Shop, db *sql.DB) {
		exec(t, db, "CREATE TABLE job (owner INT NOT NULL PRIMARY KEY, worker INT NOT NULL DEFAULT 0, KEY (worker, owner)) COMMENT 'locus: owner=owner'")
		const jobs, workers = 60, 4
		for owner := range jobs {
			exec(t, db, "INSERT INTO job (owner) VALUES (?)", owner+1)
		}
		var taken [workers + 1]int
		var working sync.WaitGroup
		for worker := 1; worker <= workers; worker++ {
			working.Go(func() {
				for {
					r, err := db.Exec("UPDATE job SET worker = ? WHERE worker = 0 ORDER BY owner LIMIT 1", worker)
					if e, is := errors.AsType[*mysql.MySQLError](err); is && e.Number == 1213 { // the workers lock the index in other orders, on one server too
						continue
					}
					if err != nil {
						t.Errorf("worker %d: %v", worker, err)
						return
					}
					n, err := r.RowsAffected()
					if n != 1 || err != nil {
						return
					}
					taken[worker]++
				}
			})
		}
		working.Wait()
		for worker := 1; worker <= workers; worker++ {
			if got := number(t, db, "SELECT COUNT(*) FROM job WHERE worker = "+strconv.Itoa(worker)); int(got) != taken[worker] {
				t.Errorf("worker %d has %v jobs and took %d", worker, got, taken[worker])
			}
		}
		if got := number(t, db, "SELECT COUNT(*) FROM job WHERE worker = 0"); got != 0 {
			t.Errorf("%v jobs are left", got)
		}
	})
}
