//go:build servers

package lookup

import (
	"database/sql"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/scale"
	"locus/internal/test/servers"
)

// forms are the INSERTs that handle duplicates.
var forms = []string{
	"REPLACE INTO users VALUES (%d, '%s', 'r')", "INSERT IGNORE INTO users VALUES (%d, '%s', 'i')",
	"INSERT INTO users VALUES (%d, '%s', 'u') ON DUPLICATE KEY UPDATE name = 'd'",
	"INSERT INTO users VALUES (%d, '%s', 'u') ON DUPLICATE KEY UPDATE email = 'next', name = 'd'",
}

// Two clients insert the same absent value at the same time, on two shards, with handling of duplicates. One row remains, with
// that value or with the value that the second client has assigned.
func TestDuplicatesAtOnce(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s, db := indexed(t, engine)
		must(t, db, "CALL locus.fill_lookup('"+s.Schema+".users_by_email')")
		levels := []string{"READ COMMITTED", "REPEATABLE READ"}
		for round := range scale.Of(16, 400) {
			level, form := levels[round%2], forms[round/2%len(forms)]
			value := fmt.Sprintf("New%d@x", round)
			var clients sync.WaitGroup
			for i := range 2 {
				clients.Go(func() {
					for id := 10*round + i; ; id++ {
						err := runIn(t, db, level, fmt.Sprintf(form, id, value))
						if err != nil && !loses(err) {
							t.Errorf("%s: %s: %v", level, form, err)
						}
						if err == nil || !loses(err) {
							return
						}
					}
				})
			}
			clients.Wait()
			want := "1"
			if strings.Contains(form, "'next'") {
				value = "next"
			}
			if got := column(t, db, "SELECT COUNT(*) FROM users WHERE email = '"+value+"'"); got != want {
				t.Errorf("%s: %s: %s rows have the value", level, form, got)
			}
			must(t, db, "DELETE FROM users WHERE email = 'next'")
		}
		s.checkEntries(t)
	})
}

// runIn runs a statement in a transaction.
func runIn(t *testing.T, db *sql.DB, level, text string) error {
	c, err := db.Conn(t.Context())
	if err != nil {
		return err
	}
	defer c.Close()
	for _, st := range []string{"SET SESSION TRANSACTION ISOLATION LEVEL " + level, "BEGIN", text, "COMMIT"} {
		if _, err := c.ExecContext(t.Context(), st); err != nil {
			_, _ = c.ExecContext(t.Context(), "ROLLBACK")
			return err
		}
	}
	return nil
}

// LOAD DATA keeps or replaces the rows that one server would keep or replace.
func TestLoadData(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s, proxied := indexed(t, engine)
		must(t, proxied, "CALL locus.fill_lookup('"+s.Schema+".users_by_email')")
		one := plain(t, engine)
		server := servers.Shared(t, engine, 1)[0]
		root := server.DB(t, "")
		must(t, root, "SET GLOBAL local_infile = 1")
		var lines strings.Builder
		for i := range 60 {
			fmt.Fprintf(&lines, "%d\t%s\t%c\n", i*7%40, []string{"Ann@x", "ann@X", `\N`, "b" + fmt.Sprint(i%25), "ö" + fmt.Sprint(i%9)}[i%5], 'a'+i%4)
		}
		mysql.RegisterReaderHandler("users", func() io.Reader { return strings.NewReader(lines.String()) })
		defer mysql.DeregisterReaderHandler("users")
		for _, db := range []*sql.DB{proxied, one} {
			must(t, db, "INSERT INTO users VALUES (1, 'ann@x', ''), (2, 'b3', ''), (3, 'b4', ''), (12, 'b7', '')")
		}
		for _, how := range []string{"", "IGNORE", "REPLACE"} {
			var results []string
			for _, db := range []*sql.DB{one, proxied} {
				c, err := db.Conn(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				st := statement{text: "LOAD DATA LOCAL INFILE 'Reader::users' " + how + " INTO TABLE users CHARACTER SET utf8mb4", warns: true}
				result := st.run(t.Context(), c, true)
				results = append(results, result+" "+statement{text: "SELECT id, email, name FROM users"}.run(t.Context(), c, true))
				_ = c.Close()
			}
			if results[0] != results[1] {
				t.Errorf("LOAD DATA %s:\none server: %s\nlocus:      %s", how, results[0], results[1])
			}
			must(t, one, "DELETE FROM users WHERE id % 3 = 0")
			must(t, proxied, "DELETE FROM users WHERE id % 3 = 0")
		}
		s.checkEntries(t)
	})
}

// INSERT … ON DUPLICATE KEY UPDATE returns the ID of the row that it has found by the indexed column on another shard.
func TestTheIDOfADuplicate(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s, db := indexed(t, engine)
		must(t, db, "CREATE TABLE members (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, email VARCHAR(60) NOT NULL, n INT NOT NULL DEFAULT 0, UNIQUE KEY (email)) COMMENT 'locus: owner=id'",
			"CREATE TABLE members_by_email (email VARCHAR(60) NOT NULL, value_hash BIGINT UNSIGNED NOT NULL, row_gene INT UNSIGNED NOT NULL, PRIMARY KEY (value_hash, email)) COMMENT 'locus: lookup=members.email'",
			"CALL locus.fill_lookup('"+s.Schema+".members_by_email')")
		for i := range 8 {
			first, err := db.Exec("INSERT INTO members (email) VALUES (?)", fmt.Sprint("m", i))
			if err != nil {
				t.Fatal(err)
			}
			want, _ := first.LastInsertId()
			again, err := db.Exec("INSERT INTO members (email) VALUES (?) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), n = n + 1", fmt.Sprint("M", i))
			if err != nil {
				t.Fatal(err)
			}
			got, _ := again.LastInsertId()
			if rows, _ := again.RowsAffected(); got != want || rows != 2 {
				t.Errorf("row %d has the ID %d, and %d was returned, with %d rows", i, want, got, rows)
			}
			if n := column(t, db, fmt.Sprintf("SELECT n FROM members WHERE id = %d", want)); n != "1" {
				t.Errorf("row %d was updated %s times", i, n)
			}
		}
	})
}

// A statement that can't be answered as on one server is refused, and changes nothing.
func TestRefusedDuplicates(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s, db := indexed(t, engine)
		must(t, db, "INSERT INTO users VALUES (1, 'a', ''), (2, 'b', ''), (3, 'c', '')")
		refused(t, db, "REPLACE INTO users VALUES (4, 'a', '')", "does not contain the owner or an ID")
		must(t, db, "CALL locus.fill_lookup('"+s.Schema+".users_by_email')")
		for text, why := range map[string]string{
			"INSERT IGNORE INTO users VALUES (4, 'a', '') ON DUPLICATE KEY UPDATE name = 'x'":          "with IGNORE",
			"INSERT INTO users VALUES (4, 'a', '') ON DUPLICATE KEY UPDATE email = CONCAT(email, 'x')": "known beforehand",
			"INSERT INTO users VALUES (4, 'a', '007') ON DUPLICATE KEY UPDATE email = VALUES(name)":    "known beforehand",
			"INSERT INTO users VALUES (4, 'a', '') ON DUPLICATE KEY UPDATE email = 'x', email = 'y'":   "is set twice",
			"REPLACE INTO users VALUES (4, CONCAT('a', name), '')":                                     "looked up in",
		} {
			refused(t, db, text, why)
		}
		if got := column(t, db, "SELECT id FROM users ORDER BY id"); got != "1 2 3" {
			t.Errorf("rows %s", got)
		}
		refused(t, db, "INSERT INTO users VALUES (4, 'd', ''), (5, 'a', '') ON DUPLICATE KEY UPDATE email = 'b'", "by_email")
		if got := column(t, db, "SELECT id FROM users ORDER BY id"); got != "1 2 3" {
			t.Errorf("rows %s after a statement that failed", got)
		}
		s.checkEntries(t)
	})
}
