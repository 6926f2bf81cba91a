//go:build servers

package lookup

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/proxy/txn"
	"locus/test/product"
	"locus/test/shop"
)

// users is the indexed table, and entries is its look-up table.
const (
	users = `CREATE TABLE users (id BIGINT NOT NULL PRIMARY KEY, email VARCHAR(60) NULL, name VARCHAR(20) NOT NULL DEFAULT '', UNIQUE KEY by_email (email))
		DEFAULT CHARSET utf8mb4 COLLATE utf8mb4_general_ci`
	declares = " COMMENT 'locus: owner=id'"
	entries  = `CREATE TABLE users_by_email (email VARCHAR(60) NOT NULL, value_hash BIGINT UNSIGNED NOT NULL, row_gene INT UNSIGNED NOT NULL, PRIMARY KEY (value_hash, email))
		DEFAULT CHARSET utf8mb4 COLLATE utf8mb4_general_ci COMMENT 'locus: lookup=users.email'`
)

// indexed returns a shop with the tables, and a connection pool to its proxy.
func indexed(t *testing.T, engine servers.Engine) (*stand, *sql.DB) {
	t.Helper()
	s := shop.Start(t, engine, shop.Options{Shards: 3, Spanning: txn.XA, User: ", admin: true, scatter_writes: allow"})
	db := s.DB(t, nil)
	must(t, db, users+declares, entries)
	return &stand{s}, db
}

func must(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, text := range statements {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// refused checks that a statement fails with an error that contains a text.
func refused(t *testing.T, db *sql.DB, text, why string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), text); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("%s: %v, and not %q", text, err, why)
	}
}

// column returns the first column of a query's rows, separated by blanks.
func column(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		columns, _ := rows.Columns()
		values := make([]any, len(columns))
		var first sql.NullString
		values[0] = &first
		for i := range values[1:] {
			values[i+1] = new(sql.NullString)
		}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		all = append(all, first.String)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return strings.Join(all, " ")
}

func TestALookUpIndex(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s, db := indexed(t, engine)
		for i := range 40 {
			if _, err := db.Exec("INSERT INTO users (id, email, name) VALUES (?, ?, 'x')", i, strings.Repeat("é", i%3)+"User"+string(rune('a'+i))+"@x"); err != nil {
				t.Fatal(err)
			}
		}
		must(t, db, "CALL locus.fill_lookup('"+s.Schema+".users_by_email')")
		must(t, db, "INSERT INTO users (id) VALUES (100), (101)", "INSERT INTO users VALUES (102, 'b@x', ''), (103, NULL, ''), (104, 'c@x', '')")
		refused(t, db, "INSERT INTO users VALUES (200, 'B@X ', '')", "by_email")
		refused(t, db, "INSERT INTO users VALUES (200, 'EéUSERC@x', '')", "Duplicate")
		if got := column(t, db, "SELECT COUNT(*) FROM users"); got != "45" {
			t.Errorf("%s rows", got)
		}
		for _, line := range []string{"EXPLAIN SELECT * FROM users WHERE email = 'b@x'", "EXPLAIN SELECT * FROM users"} {
			t.Log(column(t, db, line))
		}
		if got := column(t, db, "SELECT id FROM users WHERE email = 'B@x'"); got != "102" {
			t.Errorf("found %s", got)
		}
		must(t, db, "UPDATE users SET email = 'd@x' WHERE email = 'c@x'", "DELETE FROM users WHERE email = 'b@x'", "INSERT INTO users VALUES (200, 'b@x', '')")
		if got := column(t, db, "SELECT id FROM users WHERE email IN ('b@x', 'c@x', 'd@x') ORDER BY id"); got != "104 200" {
			t.Errorf("found %s", got)
		}
		refused(t, db, "UPDATE users SET email = 'd@x' WHERE id = 200", "by_email")
		must(t, db, "DROP TABLE users_by_email", "TRUNCATE users", "DROP TABLE users")
	})
}

// column2 returns the two columns of a query's only row, separated by a blank.
func column2(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	var a, b string
	if err := db.QueryRowContext(t.Context(), query).Scan(&a, &b); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return a + " " + b
}

// A transaction finds its own rows by the index, and the rows of its snapshot as they were.
func TestWhatATransactionSees(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s, db := indexed(t, engine)
		must(t, db, "CALL locus.fill_lookup('"+s.Schema+".users_by_email')")
		for id := range 12 {
			must(t, db, fmt.Sprintf("INSERT INTO users VALUES (%d, 'old%d', '')", id, id))
		}
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tx.Rollback() }()
		find := func(email, want string) {
			t.Helper()
			var id sql.NullString
			if err := tx.QueryRow("SELECT MAX(id) FROM users WHERE email = ?", email).Scan(&id); err != nil || id.String != want {
				t.Errorf("%s: row %q, and not %q: %v", email, id.String, want, err)
			}
		}
		if _, err := tx.Exec("SELECT COUNT(*) FROM users"); err != nil { // the snapshots of all shards
			t.Fatal(err)
		}
		for id := range 12 {
			must(t, db, fmt.Sprintf("UPDATE users SET email = 'new%d' WHERE id = %d", id, id))
			if _, err := tx.Exec("INSERT INTO users VALUES (?, ?, '')", 100+id, fmt.Sprint("own", id)); err != nil {
				t.Fatal(err)
			}
		}
		for id := range 12 {
			find(fmt.Sprint("old", id), fmt.Sprint(id))
			find(fmt.Sprint("new", id), "")
			find(fmt.Sprint("OWN", id), fmt.Sprint(100+id))
		}
	})
}

// A transaction that is SERIALIZABLE doesn't wait for the entries that it has written itself.
func TestOwnEntriesUnderSerializable(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s, db := indexed(t, engine)
		must(t, db, "CALL locus.fill_lookup('"+s.Schema+".users_by_email')", "INSERT INTO users VALUES (1, 'a', ''), (2, 'b', ''), (3, 'c', '')")
		db.SetMaxOpenConns(1)
		must(t, db, "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE", "SET innodb_lock_wait_timeout = 1", "SET autocommit = 0",
			"INSERT INTO users VALUES (20, 'x', ''), (21, 'y', '')", "DELETE FROM users WHERE email = 'a'", "INSERT IGNORE INTO users VALUES (22, 'x', ''), (23, 'z', ''), (24, 'a', '')", "REPLACE INTO users VALUES (25, 'x', '')")
		if got := column(t, db, "SELECT id FROM users WHERE email IN ('a', 'x', 'y', 'z') ORDER BY id"); got != "21 23 24 25" {
			t.Errorf("found %s", got)
		}
		must(t, db, "COMMIT", "SET autocommit = 1")
		s.checkEntries(t)
	})
}

// A look-up table that was lost and is created again has no entries, so statements don't use it before it is filled.
func TestALostLookUpTable(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s, db := indexed(t, engine)
		fill := "CALL locus.fill_lookup('" + s.Schema + ".users_by_email')"
		must(t, db, fill, "INSERT INTO users VALUES (1, 'a@x', ''), (2, 'b@x', ''), (3, 'c@x', ''), (4, 'd@x', '')")
		for i := range s.Servers {
			must(t, s.Shop.Shard(t, i), "DROP TABLE users_by_email")
		}
		must(t, db, entries)
		if got := column(t, db, "SELECT id FROM users WHERE email IN ('a@x', 'b@x', 'c@x', 'd@x') ORDER BY id"); got != "1 2 3 4" {
			t.Errorf("found %s", got)
		}
		must(t, db, fill)
		s.checkEntries(t)
		for _, text := range []string{"BEGIN", "SET autocommit = 0"} {
			c, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, st := range []string{text, fill} {
				_, err = c.ExecContext(t.Context(), st)
			}
			if err == nil {
				t.Errorf("after %s, a look-up table is filled in a transaction that may be rolled back", text)
			}
			_, _ = c.ExecContext(t.Context(), "SET autocommit = 1")
			_ = c.Close()
		}
	})
}

// Under LOCK TABLES, a statement that fails leaves neither rows nor entries.
func TestLockedTables(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s, db := indexed(t, engine)
		must(t, db, "CALL locus.fill_lookup('"+s.Schema+".users_by_email')", "INSERT INTO users VALUES (1, 'a', '')")
		db.SetMaxOpenConns(1)
		must(t, db, "LOCK TABLES users WRITE", "INSERT INTO users VALUES (20, 'b', '')")
		for id := 2; id < 8; id++ {
			refused(t, db, fmt.Sprintf("INSERT INTO users VALUES (%d, 'a', '')", id), "by_email")
			refused(t, db, fmt.Sprintf("INSERT INTO users VALUES (%d, 'c', ''), (%d, 'd', ''), (%d, 'e', ''), (1, 'f', '')", id, id+10, id+30), "Duplicate")
		}
		refused(t, db, "UPDATE users SET email = 'a' WHERE id = 20", "by_email")
		for id := 2; id < 8; id++ { // they find the row wherever it is
			must(t, db, fmt.Sprintf("INSERT IGNORE INTO users VALUES (%d, 'A', 'i')", id), fmt.Sprintf("INSERT INTO users VALUES (%d, 'A', '') ON DUPLICATE KEY UPDATE name = 'u%d'", id, id),
				fmt.Sprintf("REPLACE INTO users VALUES (%d, 'r', '')", 100+id))
		}
		if got := column(t, db, "SELECT name FROM users WHERE id = 1"); got != "u7" {
			t.Errorf("row 1 has the name %s", got)
		}
		must(t, db, "DELETE FROM users WHERE id > 100", "UNLOCK TABLES")
		if got := column(t, db, "SELECT id FROM users ORDER BY id"); got != "1 20" {
			t.Errorf("rows %s", got)
		}
		s.checkEntries(t)
	})
}

// A look-up table that can't be dropped on some shard stays declared and is not used, so that the statement can be repeated.
func TestADropThatFails(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s, db := indexed(t, engine)
		must(t, db, "CALL locus.fill_lookup('"+s.Schema+".users_by_email')", "INSERT INTO users VALUES (1, 'a@x', ''), (2, 'b@x', '')")
		holder, err := s.Shop.Shard(t, 1).Begin()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = holder.Rollback() }()
		if _, err := holder.Exec("SELECT * FROM users_by_email"); err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		must(t, db, "SET lock_wait_timeout = 1")
		refused(t, db, "DROP TABLE users_by_email", "look-up table "+s.Schema+".users_by_email is not used any more, and stays declared: repeat the statement")
		if got := column(t, db, "SELECT id FROM users WHERE email IN ('a@x', 'b@x') ORDER BY id"); got != "1 2" {
			t.Errorf("found %s", got)
		}
		must(t, db, "INSERT INTO users VALUES (3, 'c@x', '')")
		_ = holder.Rollback()
		must(t, db, "DROP TABLE users_by_email", "DROP TABLE users")
	})
}

// An index that a foreign key or a trigger would make wrong is not filled, and writes go on.
func TestAnIndexThatCannotBeKept(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s, db := indexed(t, engine)
		must(t, db, "CREATE TABLE accounts (id BIGINT NOT NULL PRIMARY KEY) COMMENT 'locus: owner=id'", "ALTER TABLE users DROP KEY by_email, ADD UNIQUE KEY by_email (email)")
		fill := "CALL locus.fill_lookup('" + s.Schema + ".users_by_email')"
		for i := range s.Servers {
			must(t, s.Shop.Shard(t, i), "ALTER TABLE users ADD CONSTRAINT child FOREIGN KEY (id) REFERENCES accounts (id) ON DELETE CASCADE")
		}
		product.Eventually(t, "the foreign key is known", func() bool {
			_, err := db.Exec(fill)
			return err != nil && strings.Contains(err.Error(), "foreign key child changes or deletes its rows")
		})
		must(t, db, "INSERT INTO accounts VALUES (1), (2)", "INSERT INTO users VALUES (1, 'a', ''), (2, 'b', '')", "DELETE FROM accounts WHERE id = 2")
	})
}
