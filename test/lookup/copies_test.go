//go:build servers

package lookup

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"locus/internal/test/scale"
	"locus/internal/test/servers"
	"locus/migrate/phase"
	"locus/test/cluster"
	"locus/test/product"
)

// While genes are moved, the shard that they were moved from has copies of their rows, which follow changes of the rows a little later. An
// INSERT of a value that such a row had a moment ago inserts its row, or asks for a repetition. It never takes the copy for a duplicate.
func TestCopiesOfMovedRows(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		c := cluster.Start(t, engine, cluster.Options{Shards: 2, Spare: 1, UserFields: ", admin: true, scatter_writes: allow"})
		p := c.Serve("one")
		db := cluster.Open(cluster.Config(p.Addr))
		defer db.Close()
		must(t, db, users+declares, entries, "CALL locus.fill_lookup('shop.users_by_email')")
		for id := range 60 {
			must(t, db, fmt.Sprintf("INSERT INTO users VALUES (%d, NULL, '')", id))
		}
		command := func(args ...string) {
			product.Eventually(t, fmt.Sprint("the command is accepted: ", args), func() bool { _, err := c.Locus(args...); return err == nil })
		}
		command("split", "--from", "s0", "--to", "s2", "--half")
		c.AwaitPhase("split-1", phase.Phase("ready"))
		command("cutover", "split-1", "--to", "100%", "--yes")
		c.AwaitPhase("split-1", phase.Phase("cut"))
		moved, stayed := copied(t, c)
		must(t, db, "DELETE FROM users WHERE id >= 0")
		lost := 0
		forms := append(forms[:len(forms):len(forms)], "INSERT INTO users SELECT %d, '%s', 'n' FROM users WHERE id = 100", "INSERT INTO users VALUES (%d, '%s', 'n')", "INSERT INTO users VALUES (%d, NULL, 'n'); UPDATE users SET email = '%[2]s' WHERE id = %[1]d")
		if engine == servers.MariaDB {
			forms = append(forms, "INSERT INTO users VALUES (%d, '%s', 'n') RETURNING id")
		}
		must(t, db, fmt.Sprintf("INSERT INTO users VALUES (%d, NULL, '')", 100))
		for i := range scale.Of(120, 3000) {
			from, to, form := moved[i%len(moved)], stayed[i%len(stayed)], forms[i%len(forms)]
			must(t, db, fmt.Sprintf("INSERT INTO users VALUES (%d, 'v%d', '')", from, i), fmt.Sprintf("DELETE FROM users WHERE id = %d", from))
			for _, text := range strings.Split(fmt.Sprintf(form, to, fmt.Sprint("v", i)), "; ") {
				for { // a client repeats a transaction that a deadlock has rolled back
					result, err := db.ExecContext(t.Context(), text)
					if err != nil && loses(err) && !strings.Contains(err.Error(), "1062") {
						lost++
						continue
					}
					if err != nil {
						t.Fatalf("%s: %v", text, err)
					}
					if n, _ := result.RowsAffected(); n != 1 && !strings.Contains(text, "RETURNING") { // the driver does not count returned rows
						t.Fatalf("%s: %d rows", text, n)
					}
					break
				}
			}
			if got := column(t, db, fmt.Sprintf("SELECT COUNT(*) FROM users WHERE id = %d AND email = 'v%d'", to, i)); got != "1" {
				t.Fatalf("%s: %s rows with id %d", form, got, to)
			}
			must(t, db, fmt.Sprintf("DELETE FROM users WHERE id = %d", to))
		}
		t.Logf("%d statements had to be repeated", lost)
		checkEntries(t, onAll(t, c))
	})
}

// While genes are moved, a value that a moved row has, and of which the first shard has a copy, is a duplicate as on one server.
func TestRowsThatHaveCopies(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		c := cluster.Start(t, engine, cluster.Options{Shards: 2, Spare: 1, UserFields: ", admin: true, scatter_writes: allow"})
		p := c.Serve("one")
		db := cluster.Open(cluster.Config(p.Addr))
		defer db.Close()
		must(t, db, users+declares, entries, "CALL locus.fill_lookup('shop.users_by_email')")
		for id := range 60 {
			must(t, db, fmt.Sprintf("INSERT INTO users VALUES (%d, 'v%d', '')", id, id))
		}
		command := func(args ...string) {
			product.Eventually(t, fmt.Sprint("the command is accepted: ", args), func() bool { _, err := c.Locus(args...); return err == nil })
		}
		command("split", "--from", "s0", "--to", "s2", "--half")
		c.AwaitPhase("split-1", phase.Phase("ready"))
		command("cutover", "split-1", "--to", "100%", "--yes")
		c.AwaitPhase("split-1", phase.Phase("cut"))
		moved, stayed := copied(t, c)
		to, free := stayed[0], stayed[1]
		must(t, db, fmt.Sprintf("DELETE FROM users WHERE id = %d", free))
		value := fmt.Sprint("V", moved[0])
		run := func(text string) (n int64, err error) {
			for try := 0; ; try++ { // a client repeats a transaction that a deadlock has rolled back, here with the stream that writes the copies
				result, err := db.ExecContext(t.Context(), text)
				if err == nil {
					n, _ = result.RowsAffected()
				} else if try < 500 && loses(err) && !strings.Contains(err.Error(), "1062") {
					continue
				}
				return n, err
			}
		}
		for form, why := range map[string]string{
			"INSERT INTO users VALUES (%[2]d, '%[3]s', '')": "Error 1062", "UPDATE users SET email = '%[3]s' WHERE id = %[1]d": "Error 1062",
			"INSERT INTO users VALUES (%[1]d, '%[3]s', '') ON DUPLICATE KEY UPDATE email = VALUES(email)": "Error 1062",
			"REPLACE INTO users VALUES (%[2]d, '%[3]s', '')":                                              "while genes are being moved",
		} {
			text := fmt.Sprintf(form, to, free, value)
			if _, err := run(text); err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %v, and not %q", text, err, why)
			}
		}
		for form, want := range map[string]int64{
			"INSERT IGNORE INTO users VALUES (%[1]d, '%[3]s', '')": 0, "INSERT IGNORE INTO users VALUES (%[2]d, '%[3]s', '')": 0,
			"INSERT INTO users VALUES (%[1]d, '%[3]s', '') ON DUPLICATE KEY UPDATE name = 'found'":    2,
			"INSERT INTO users VALUES (%[2]d, '%[3]s', '') ON DUPLICATE KEY UPDATE name = 'by value'": 2,
		} {
			text := fmt.Sprintf(form, to, free, value)
			if n, err := run(text); err != nil || n != want {
				t.Errorf("%s: %d rows, and not %d: %v", text, n, want, err)
			}
		}
		if got := column(t, db, fmt.Sprintf("SELECT name FROM users WHERE id IN (%d, %d) ORDER BY id = %[1]d DESC", to, moved[0])); got != "found by value" {
			t.Errorf("the rows have the names %q", got)
		}
		command("finish", "split-1", "--yes") // which deletes the copies
		c.AwaitPhase("split-1", phase.Phase("done"))
		checkEntries(t, onAll(t, c))
	})
}

// While genes are moved, a transaction that removes a value from a moved row can't write it to a row of the first shard, which has a copy of the moved
// row until the transaction has ended. The error says so, rather than asking for a repetition, which would fail again. In two transactions it works.
func TestAValueThatTheTransactionHasFreed(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		c := cluster.Start(t, engine, cluster.Options{Shards: 2, Spare: 1, UserFields: ", admin: true, scatter_writes: allow"})
		p := c.Serve("one")
		db := cluster.Open(cluster.Config(p.Addr))
		defer db.Close()
		must(t, db, users+declares, entries, "CALL locus.fill_lookup('shop.users_by_email')")
		for id := range 60 {
			must(t, db, fmt.Sprintf("INSERT INTO users VALUES (%d, 'v%d', '')", id, id))
		}
		command := func(args ...string) {
			product.Eventually(t, fmt.Sprint("the command is accepted: ", args), func() bool { _, err := c.Locus(args...); return err == nil })
		}
		command("split", "--from", "s0", "--to", "s2", "--half")
		c.AwaitPhase("split-1", phase.Phase("ready"))
		command("cutover", "split-1", "--to", "100%", "--yes")
		c.AwaitPhase("split-1", phase.Phase("cut"))
		moved, stayed := copied(t, c)
		from, to := moved[0], stayed[0]
		must(t, db, fmt.Sprintf("DELETE FROM users WHERE id = %d", to), "INSERT INTO users VALUES (100, 'source', '')")
		run := func(texts ...string) (err error) {
			tx, err := db.Begin()
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range texts {
				if _, err = tx.Exec(text); err != nil {
					return errors.Join(err, tx.Rollback())
				}
			}
			return tx.Commit()
		}
		frees := []string{"DELETE FROM users WHERE id = %[1]d", "UPDATE users SET email = 'other' WHERE id = %[1]d", "UPDATE users SET email = NULL WHERE email = 'v%[1]d'"}
		takes := append(forms[:len(forms):len(forms)], "INSERT INTO users VALUES (%d, '%s', '')", "INSERT INTO users VALUES (%d, NULL, ''); UPDATE users SET email = '%[2]s' WHERE id = %[1]d",
			"INSERT INTO users SELECT %d, '%s', 'n' FROM users WHERE id = 100", "INSERT INTO users VALUES (%d, 'free', ''); INSERT INTO users VALUES (%[1]d, 'v', '') ON DUPLICATE KEY UPDATE email = '%[2]s'")
		both := func(i int, free string) []string {
			return append([]string{fmt.Sprintf(free, from)}, strings.Split(fmt.Sprintf(takes[i], to, fmt.Sprint("V", from)), "; ")...)
		}
		for _, free := range frees {
			for i := range takes {
				err := run(both(i, free)...)
				for try := 0; try < 50 && err != nil && loses(err); try++ { // the stream that writes copies also locks them
					err = run(both(i, free)...)
				}
				if err == nil || !strings.Contains(err.Error(), "commit the removal first") {
					t.Errorf("%q: %v", both(i, free), err)
				}
			}
		}
		if got := column(t, db, fmt.Sprintf("SELECT email FROM users WHERE id IN (%d, %d)", from, to)); got != fmt.Sprint("v", from) {
			t.Errorf("the rows have %q", got)
		}
		for _, text := range both(len(forms), frees[0]) {
			err := run(text)
			for err != nil && loses(err) && !strings.Contains(err.Error(), "1062") {
				err = run(text)
			}
			if err != nil {
				t.Errorf("%s in a transaction of its own: %v", text, err)
			}
		}
		command("finish", "split-1", "--yes")
		c.AwaitPhase("split-1", phase.Phase("done"))
		from, to = to, from
		must(t, db, both(len(forms), frees[0])...)
		checkEntries(t, onAll(t, c))
	})
}

// copied returns the users whose rows are on two shards, and those on the first one alone.
func copied(t *testing.T, c *cluster.Cluster) (moved, stayed []int) {
	on := map[int][]int{}
	c.All(t, "SELECT id FROM shop.users ORDER BY id", func(shard int, rows *sql.Rows) error {
		var id int
		err := rows.Scan(&id)
		on[id] = append(on[id], shard)
		return err
	})
	for id := range 60 {
		switch shards := on[id]; {
		case len(shards) == 2:
			moved = append(moved, id)
		case shards[0] == 0:
			stayed = append(stayed, id)
		}
	}
	return moved, stayed
}
