package e2e

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
	"locus/test/shop"
)

// insertTables are tables whose numbers the cluster gives, and others of one shard.
var insertTables = shop.Options{
	Tables: []string{
		"CREATE TABLE {schema}.entry (id BIGINT NOT NULL AUTO_INCREMENT, u INT NOT NULL, k INT NOT NULL, note VARCHAR(8), PRIMARY KEY (id), UNIQUE KEY (u, k), gene INT UNSIGNED NOT NULL DEFAULT 0 INVISIBLE, KEY (gene))",
		"CREATE TABLE {schema}.sort (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, u INT NOT NULL, k INT NOT NULL, note VARCHAR(8), UNIQUE KEY (u, k))",
	},
	Declarations: `  {schema}.entry: {kind: sharded, owner: u, gene: gene}
  {schema}.sort: {kind: global}
`,
}

// inserts are statements in order, of a table TABLE. Owners 1 to 9 are on both shards.
var inserts = []string{
	"INSERT INTO TABLE (u, k) VALUES (1, 1)",
	"INSERT INTO TABLE (u, k) VALUES (1, 1) ON DUPLICATE KEY UPDATE id=LAST_INSERT_ID(id)",
	"INSERT INTO TABLE (u, k) VALUES (1, 2) ON DUPLICATE KEY UPDATE id=LAST_INSERT_ID(id)",
	"INSERT INTO TABLE (u, k) VALUES (1, 1) ON DUPLICATE KEY UPDATE id=LAST_INSERT_ID(id), note='x'",
	"INSERT INTO TABLE (u, k) VALUES (1, 1) ON DUPLICATE KEY UPDATE note='x'",
	"INSERT INTO TABLE (u, k) VALUES (1, 1) ON DUPLICATE KEY UPDATE note='y'",
	"INSERT INTO TABLE (u, k) VALUES (1, 3) ON DUPLICATE KEY UPDATE note='y'",
	"INSERT INTO TABLE (u, k) VALUES (1, 1), (1, 4), (1, 5) ON DUPLICATE KEY UPDATE note='z'",
	"INSERT INTO TABLE (u, k) VALUES (1, 1), (1, 2), (1, 4) ON DUPLICATE KEY UPDATE note='z'",
	"INSERT INTO TABLE (u, k) VALUES (1, 1), (2, 1), (3, 1), (4, 1), (5, 1) ON DUPLICATE KEY UPDATE note='w'",
	"INSERT INTO TABLE (u, k) VALUES (1, 1), (2, 1), (3, 1), (4, 1), (5, 1) ON DUPLICATE KEY UPDATE note='w'",
	"INSERT INTO TABLE (u, k) VALUES (1, 1), (2, 1), (3, 1), (4, 1), (5, 1) ON DUPLICATE KEY UPDATE note='v'",
	"INSERT IGNORE INTO TABLE (u, k) VALUES (1, 1)",
	"INSERT IGNORE INTO TABLE (u, k) VALUES (1, 1), (1, 6), (1, 7)",
	"INSERT IGNORE INTO TABLE (u, k) VALUES (1, 1), (2, 1), (6, 1), (7, 1)",
	"INSERT IGNORE INTO TABLE (u, k) VALUES (1, 1), (2, 1)",
	"INSERT INTO TABLE (u, k) VALUES (1, 10), (2, 10), (3, 10)",
	"REPLACE INTO TABLE (u, k) VALUES (1, 10)",
	"REPLACE INTO TABLE (u, k) VALUES (1, 10), (2, 11), (3, 10)",
	"INSERT INTO TABLE (id, u, k) VALUES (1000, 1, 20)",
	"INSERT INTO TABLE (id, u, k) VALUES (3001, 1, 21), (NULL, 1, 22)",
	"INSERT INTO TABLE (id, u, k) VALUES (5010, 1, 23), (5011, 2, 23)",
	"INSERT INTO TABLE SET u=1, k=30",
	"INSERT INTO TABLE SET u=1, k=30 ON DUPLICATE KEY UPDATE note=IF(0, LAST_INSERT_ID(77), 'q')",
	"INSERT INTO TABLE (u, k) SELECT 8, 1 UNION ALL SELECT 8, 2",
	"INSERT INTO TABLE (u, k, note) VALUES (1, 41, 'a'), (2, 41, 'b'), (3, 41, 'c'), (4, 41, 'd'), (5, 41, 'far too long'), (6, 41, 'also too long')",
	"INSERT IGNORE INTO TABLE (u, k, note) VALUES (1, 42, 'far too long'), (2, 42, 'b'), (3, 42, 'far too long'), (4, 42, 'far too long'), (5, 42, 'far too long'), (6, 42, 'x')",
	"REPLACE INTO TABLE (u, k, note) VALUES (1, 43, 'a'), (2, 43, 'b'), (3, 43, 'c'), (4, 43, 'd'), (5, 43, 'far too long')",
	"UPDATE TABLE SET note = 'u' WHERE u = 1 AND k = 1",
	"UPDATE TABLE SET note = 'u' WHERE u = 1 AND k < 3",
}

// said returns what a client receives for a statement about a table. An ID is written as the columns of the row that
// has it, because a server assigns the number of a skipped row again, and the cluster does not.
func said(t *testing.T, conn *sql.Conn, table, text string) string {
	t.Helper()
	ctx := t.Context()
	row := func(id uint64) (text string) {
		if err := conn.QueryRowContext(ctx, fmt.Sprint("SELECT CONCAT('row ', u, '-', k) FROM ", table, " WHERE id = ", id)).Scan(&text); err != nil {
			return fmt.Sprint(id, ": ", err)
		}
		return text
	}
	var b strings.Builder
	r, failure := conn.ExecContext(ctx, text)
	rows, err := conn.QueryContext(ctx, "SHOW WARNINGS")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var level, code, message string
		if err := rows.Scan(&level, &code, &message); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "; %s %s %s", level, code, message)
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	if failure != nil { // LAST_INSERT_ID() is not defined then
		return fmt.Sprint(failure, b.String())
	}
	var last uint64
	if err := conn.QueryRowContext(ctx, "SELECT LAST_INSERT_ID()").Scan(&last); err != nil {
		t.Fatal(err)
	}
	id, _ := r.LastInsertId()
	affected, _ := r.RowsAffected()
	return fmt.Sprint(affected, " rows, id ", row(uint64(id)), b.String(), "; last ", row(last))
}

// For INSERTs into tables that the cluster numbers, a client receives what one server returns: IDs, rows, errors and
// warnings with the numbers of their rows, in the same order.
func TestInsertsAreAnsweredAsOnOneServer(t *testing.T) {
	for _, engine := range []servers.Engine{servers.MariaDB, servers.MySQL} {
		s := shop.Start(t, engine, insertTables)
		plain := servers.Shared(t, engine, 3)[2]
		schema := servers.Database(t, plain)
		for _, matched := range []bool{false, true} {
			for _, table := range []string{"entry", "sort"} {
				t.Run(fmt.Sprint(engine, " ", table, " matched ", matched), func(t *testing.T) {
					name := fmt.Sprint(table, "_", matched)
					admin := plain.DB(t, schema)
					exec(t, admin, "CREATE TABLE "+name+" (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, u INT NOT NULL, k INT NOT NULL, note VARCHAR(8), UNIQUE KEY (u, k))")
					if matched {
						for owner := 1; owner < 10; owner++ {
							exec(t, s.DB(t, nil), fmt.Sprintf("DELETE FROM %s WHERE u = %d", table, owner))
						}
					}
					dsn := func(c *mysql.Config) { c.ClientFoundRows = matched }
					proxied, err := s.DB(t, dsn).Conn(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					direct, err := plainDB(t, plain, schema, matched).Conn(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					for i, text := range inserts {
						if table == "sort" && strings.Contains(text, "LAST_INSERT_ID(") {
							continue // copies are refused where shards may answer differently
						}
						both := func(text string) (got, want string) {
							return said(t, proxied, table, strings.ReplaceAll(text, "TABLE", table)), said(t, direct, name, strings.ReplaceAll(text, "TABLE", name))
						}
						both(fmt.Sprint("INSERT INTO TABLE (u, k) VALUES (1, ", 1000+i, ")"))
						got, want := both(text)
						got = strings.ReplaceAll(got, s.Schema+"`.`"+table, schema+"`.`"+name)
						got, want = strings.ReplaceAll(got, table+".u", "T.u"), strings.ReplaceAll(want, name+".u", "T.u")
						if got != want {
							t.Errorf("%s\nproxy %s\nplain %s", text, got, want)
						}
					}
				})
			}
		}
	}
}

// plainDB connects to the plain server as the proxy's client does.
func plainDB(t *testing.T, server *servers.Server, schema string, matched bool) *sql.DB {
	t.Helper()
	c := mysql.NewConfig()
	c.Net, c.Addr, c.User, c.Passwd, c.DBName, c.ClientFoundRows = "tcp", server.Addr(), server.User, server.Password, schema, matched
	db, err := sql.Open("mysql", c.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}
