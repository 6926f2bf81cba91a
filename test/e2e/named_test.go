package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/proxy/txn"
	"locus/test/shop"
)

// texts returns the rows of an answer, with bars between their fields.
func texts(t *testing.T, db interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}, query string, args ...any,
) (lines []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	fields, pointers := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range fields {
		pointers[i] = &fields[i]
	}
	for rows.Next() {
		if err := rows.Scan(pointers...); err != nil {
			t.Fatal(err)
		}
		var line []string
		for _, f := range fields {
			line = append(line, f.String)
		}
		lines = append(lines, strings.Join(line, " | "))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

// The session's statements are sent to the shard that it names. They read its rows whatever the declarations of the
// tables are, and users with the right to do so change them.
func TestStatementsOfANamedShard(t *testing.T) {
	tables := shop.Options{Tables: []string{"CREATE TABLE {schema}.strewn (n INT NOT NULL PRIMARY KEY)", "CREATE TABLE {schema}.visit (owner BIGINT NOT NULL, n INT NOT NULL, PRIMARY KEY (owner, n), " + invisible}, Declarations: "  {schema}.visit: {kind: sharded, owner: owner, gene: gene}\n"}
	each(t, tables, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		for i := range 20 {
			exec(t, db, "INSERT INTO test_order (buyer_uid, amount) VALUES (?, ?)", i, i)
		}
		exec(t, s.Shard(t, 0), "INSERT INTO strewn VALUES (1)")
		exec(t, s.Shard(t, 1), "INSERT INTO strewn VALUES (2), (3)")
		there := []string{fmt.Sprint(number(t, s.Shard(t, 0), "SELECT COUNT(*) FROM test_order")), fmt.Sprint(number(t, s.Shard(t, 1), "SELECT COUNT(*) FROM test_order"))}
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		say := func(text string) error {
			_, err := conn.ExecContext(t.Context(), text)
			return err
		}
		prepared, err := conn.PrepareContext(t.Context(), "SELECT COUNT(*) FROM test_order WHERE amount > ?")
		if err != nil {
			t.Fatal(err)
		}
		defer prepared.Close()
		for _, named := range []struct{ value, count, strewn string }{{"s0", there[0], "1"}, {"s1", there[1], "2"}} {
			if err := say("SET locus_shard = '" + named.value + "'"); err != nil {
				t.Fatal(err)
			}
			var n string
			if err := prepared.QueryRow(-1).Scan(&n); err != nil || n != named.count {
				t.Errorf("prepared, on %s: %s, %v, want %s", named.value, n, err, named.count)
			}
			for query, want := range map[string]string{
				"SELECT COUNT(*) FROM test_order": named.count,
				"SELECT COUNT(*) FROM (SELECT order_id FROM test_order UNION ALL SELECT order_id FROM test_order) x, (SELECT 1) y HAVING COUNT(*) % 2 = 0": "",
				"SELECT COUNT(*) FROM strewn": named.strewn, // not declared, and on several shards
				"SELECT @@locus_shard":        named.value,
				"SHOW TABLES LIKE 'strewn'":   "strewn",
			} {
				got := texts(t, conn, query)
				if len(got) != 1 || want != "" && got[0] != want {
					t.Errorf("on %s: %s: %q, want %q", named.value, query, got, want)
				}
			}
			if got := strings.Join(texts(t, conn, "EXPLAIN SELECT COUNT(*) FROM test_order WHERE buyer_uid = 3"), "\n"); !strings.Contains(got, "shards | "+named.value+", which the session has named") || !strings.Contains(got, "plan on "+named.value) {
				t.Errorf("EXPLAIN: %s", got)
			}
			for _, text := range []string{
				"UPDATE test_order SET amount = 1 WHERE buyer_uid = 1", "DELETE FROM test_order", "SELECT * FROM test_order FOR UPDATE", "INSERT INTO test_order (buyer_uid) VALUES (1)",
				"CREATE TABLE other (n INT)", "TRUNCATE test_order", "LOCK TABLES test_order READ", "CALL nosuch()", "ANALYZE TABLE test_order",
			} {
				refused(t, say(text), 1235, "locus-1012")
			}
		}
		refused(t, say("SET locus_shard = 's7'"), 1231, "the shards are s0, s1")
		if got := texts(t, conn, "SELECT @@locus_shard"); got[0] != "s1" {
			t.Errorf("after a SET that was refused: %q", got)
		}
		// Transactions include the shard as for any other statement.
		if err := say("BEGIN"); err != nil {
			t.Fatal(err)
		}
		if got := texts(t, conn, "SELECT COUNT(*) FROM test_order"); got[0] != there[1] {
			t.Errorf("in a transaction: %q", got)
		}
		if err := say("COMMIT"); err != nil {
			t.Fatal(err)
		}
		if err := say("SET locus_shard = DEFAULT"); err != nil {
			t.Fatal(err)
		}
		if got := texts(t, conn, "SELECT COUNT(*) FROM test_order"); got[0] != "20" {
			t.Errorf("without a name: %q", got)
		}
		if err := say("SET locus_shard = ''"); err != nil {
			t.Error(err)
		}
	})
}

// Admins change rows of a shard, such as a row that is not found by any key any more.
func TestAdminsChangeRowsOfANamedShard(t *testing.T) {
	each(t, shop.Options{User: ", admin: true"}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		exec(t, db, "INSERT INTO test_order (buyer_uid, amount) VALUES (1, 5)")
		var home, stray int
		if number(t, s.Shard(t, 1), "SELECT COUNT(*) FROM test_order") == 1 {
			home = 1
		}
		stray = 1 - home
		var order, no int64
		if err := s.Shard(t, home).QueryRow("SELECT order_id, order_no FROM test_order").Scan(&order, &no); err != nil {
			t.Fatal(err)
		}
		exec(t, s.Shard(t, stray), "INSERT INTO test_order (order_id, order_no, buyer_uid, version) VALUES (?, ?, 1, 1)", order, no)
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for _, text := range []string{
			fmt.Sprintf("SET locus_shard = 's%d'", stray), "UPDATE test_order SET amount = 9 WHERE buyer_uid = 1", "BEGIN", "SELECT amount FROM test_order WHERE buyer_uid = 1 FOR UPDATE",
			"DELETE FROM test_order WHERE buyer_uid = 1", "COMMIT",
		} {
			if _, err := conn.ExecContext(t.Context(), text); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
		if got := number(t, s.Shard(t, stray), "SELECT COUNT(*) FROM test_order"); got != 0 {
			t.Errorf("%d rows are left on the named shard", got)
		}
		if got := number(t, s.Shard(t, home), "SELECT CAST(amount AS SIGNED) FROM test_order"); got != 5 {
			t.Errorf("the row of the other shard has amount %d", got)
		}
		_, err = conn.ExecContext(t.Context(), "REPLACE INTO test_order (buyer_uid) VALUES (1)")
		refused(t, err, 1235, "locus-1012")
	})
}

// EXPLAIN of a named form takes no part in a transaction that is limited to one shard.
func TestPlansInATransaction(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{Spanning: txn.Single})
		tx, err := s.DB(t, nil).Begin()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tx.Rollback() }()
		if _, err := tx.Exec("INSERT INTO test_order (buyer_uid, amount) VALUES (3, 1)"); err != nil {
			t.Fatal(err)
		}
		for buyer := range 8 {
			var plan string
			if err := tx.QueryRow(fmt.Sprintf("EXPLAIN FORMAT=JSON SELECT amount FROM test_order WHERE buyer_uid = %d", buyer)).Scan(&plan); err != nil {
				t.Errorf("buyer %d: %v", buyer, err)
			}
		}
		if err := tx.Commit(); err != nil {
			t.Error(err)
		}
	})
}

// EXPLAIN shows the route, and next to it the plans of the servers. If it names a form, and one shard has the rows, the answer is
// that of the shard; otherwise the form is that of the plans next to the route.
func TestPlansOfTheServers(t *testing.T) {
	routed := map[servers.Engine]map[string]string{
		servers.MariaDB: {"EXPLAIN": "key=buyer_uid", "ANALYZE": "r_rows="},
		servers.MySQL:   {"EXPLAIN": "using buyer_uid", "EXPLAIN ANALYZE": "actual time"},
	}
	forms := map[servers.Engine]map[string]string{
		servers.MariaDB: {"EXPLAIN EXTENDED": " | buyer_uid | ", "EXPLAIN FORMAT=JSON": `"query_block"`, "ANALYZE FORMAT=JSON": `"r_rows"`},
		servers.MySQL:   {"EXPLAIN FORMAT=TRADITIONAL": " | buyer_uid | ", "EXPLAIN FORMAT=JSON": `"query"`, "EXPLAIN FORMAT = TREE": "-> ", "DESC ANALYZE FORMAT=TREE": "actual time"},
	}
	across := map[servers.Engine]string{servers.MariaDB: `"query_block"`, servers.MySQL: `"query"`}
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{User: ", scatter: refuse, scatter_writes: allow"})
		db := s.DB(t, nil)
		for i := range 20 {
			exec(t, db, "INSERT INTO test_order (buyer_uid, amount) VALUES (?, ?)", i, i)
		}
		said := func(query string, args ...any) string {
			t.Helper()
			return strings.Join(texts(t, db, query, args...), "\n")
		}
		for form, words := range forms[engine] {
			if got := said(form + " SELECT amount FROM test_order WHERE buyer_uid = 3"); strings.Contains(got, "shards | ") || !strings.Contains(got, words) {
				t.Errorf("%s: %s", form, got)
			}
		}
		if got := said("EXPLAIN FORMAT=JSON SELECT amount FROM test_order WHERE amount = 3"); strings.Count(got, "plan on s") != 2 || !strings.Contains(got, across[engine]) {
			t.Errorf("on two shards: %s", got)
		}
		for form, words := range routed[engine] {
			got := said(form + " SELECT amount FROM test_order WHERE buyer_uid = 3")
			if !strings.HasPrefix(got, "shards | s") || strings.Count(got, "plan on s") != 1 || !strings.Contains(got, words) {
				t.Errorf("%s: %s", form, got)
			}
		}
		for query, want := range map[string]int{
			"EXPLAIN SELECT amount FROM test_order ORDER BY amount LIMIT 2":                2,
			"EXPLAIN UPDATE test_order SET amount = 1 WHERE amount = 7":                    2,
			"EXPLAIN DELETE FROM test_order WHERE buyer_uid = 7":                           1,
			"EXPLAIN INSERT INTO test_order (buyer_uid) VALUES (7)":                        0,
			"EXPLAIN SELECT a.order_id FROM test_order a JOIN test_order b USING (amount)": 0, // gathered
			"EXPLAIN SELECT amount FROM test_order WHERE buyer_uid IN (NULL)":              0,
		} {
			if got := said(query); strings.Count(got, "plan on s") != want {
				t.Errorf("%s: %s\n want the plans of %d shards", query, got, want)
			}
		}
		if got := said("EXPLAIN SELECT amount FROM test_order WHERE buyer_uid = ?", 3); !strings.Contains(got, "plan on s") || !strings.Contains(got, routed[engine]["EXPLAIN"]) {
			t.Errorf("prepared: %s", got)
		}
		analyze := map[servers.Engine]string{servers.MariaDB: "ANALYZE ", servers.MySQL: "EXPLAIN ANALYZE "}[engine]
		_, err := db.Exec(analyze + "SELECT SUM(amount) FROM test_order") // it executes the query on all shards
		refused(t, err, 1235, "locus-1104")
		for _, sql := range []string{analyze + "DELETE FROM test_order", analyze + "FORMAT=JSON DELETE FROM test_order WHERE buyer_uid = 3"} {
			_, err = db.Exec(sql)
			refused(t, err, 1235, "locus-1003")
		}
		if got := number(t, s.Shard(t, 0), "SELECT COUNT(*) FROM test_order") + number(t, s.Shard(t, 1), "SELECT COUNT(*) FROM test_order"); got != 20 {
			t.Errorf("%d orders are left", got)
		}
		exec(t, db, "INSERT INTO setting VALUES ('a', 'b')")
		if got := said(analyze + "SELECT * FROM setting"); strings.Contains(got, "plan on") { // a single table: the shard's own answer
			t.Errorf("of a table on one shard: %s", got)
		}
	})
}
