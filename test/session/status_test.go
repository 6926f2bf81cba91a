package session

import (
	"slices"
	"testing"

	"locus/test/shop"
)

// The status counters of a session count its own statements only, whatever connections they used.
func TestCountersOfTheSession(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		other := open(t, "another", p.shop.DB(t, nil))
		p.alike(t, "CREATE TABLE calls (id INT PRIMARY KEY, v INT)")
		other.must(t, "INSERT INTO calls VALUES (9, 9)")
		p.plain.must(t, "INSERT INTO calls VALUES (9, 9)")
		p.alike(t,
			"FLUSH STATUS",
			"INSERT INTO calls VALUES (1, 1)", "INSERT INTO calls VALUES (2, 2), (3, 3)",
			"INSERT INTO calls SELECT id + 10, v FROM calls",
			"REPLACE INTO calls VALUES (1, 2)",
			"UPDATE calls SET v = 4 WHERE id = 1", "UPDATE calls a, calls b SET a.v = 5 WHERE a.id = b.id",
			"DELETE FROM calls WHERE id = 2", "DELETE a FROM calls a, calls b WHERE a.id = 3 AND a.id = b.id",
			"BEGIN", "SAVEPOINT s", "ROLLBACK TO s", "COMMIT",
			"SET @a = 1", "SELECT COUNT(*) FROM calls", "PREPARE s FROM 'SELECT 1'", "EXECUTE s", "DEALLOCATE PREPARE s",
			"TRUNCATE calls",
		)
		p.alike(t,
			"SHOW STATUS LIKE 'Com_insert'", "SHOW LOCAL STATUS LIKE 'com\\_select'",
			"SHOW SESSION STATUS WHERE variable_name IN ('Com_insert_select', 'Com_replace', 'Com_update', 'Com_update_multi', 'Com_delete', "+
				"'Com_delete_multi', 'Com_begin', 'Com_commit', 'Com_rollback', 'Com_rollback_to_savepoint', 'Com_savepoint', 'Com_set_option', "+
				"'Com_prepare_sql', 'Com_execute_sql', 'Com_dealloc_sql', 'Com_truncate', 'Com_create_table', 'Com_flush', 'Com_show_status', "+
				"'Com_stmt_execute', 'Com_stmt_prepare', 'Com_stmt_close', 'Com_drop_table')",
		)
		p.alike(t, "FLUSH STATUS", "SHOW STATUS LIKE 'Com_insert'", "SHOW STATUS WHERE Variable_name IN ('Com_update', 'Com_delete')")
		for _, c := range []*talk{p.plain, p.proxy} {
			if got := c.say("SELECT ?", "one"); got != "?\none" {
				t.Errorf("%s: %s", c.who, got)
			}
		}
		p.alike(t, "SHOW STATUS WHERE Variable_name IN ('Com_stmt_prepare', 'Com_stmt_execute', 'Com_stmt_close')")
		if got := p.proxy.value(t, "SHOW GLOBAL STATUS LIKE 'Com_insert'"); got == "" {
			t.Error("the shard's own counters are not shown")
		}
	})
}

// Names are written as the server writes them.
func TestNamesOfStatus(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		names := func(c *talk) (all []string) {
			rows, err := c.conn.QueryContext(t.Context(), "SHOW SESSION STATUS")
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			for rows.Next() {
				var name, value string
				if err := rows.Scan(&name, &value); err != nil {
					t.Fatal(err)
				}
				all = append(all, name)
			}
			return all
		}
		want, got := names(p.plain), names(p.proxy)
		for _, name := range want {
			if !slices.Contains(got, name) {
				t.Errorf("%s is missing", name)
			}
		}
		for _, name := range got {
			if !slices.Contains(want, name) {
				t.Errorf("%s is shown, which the server has not", name)
			}
		}
	})
}

// MariaDB has these tables in information_schema, MySQL in performance_schema.
func TestTablesOfStatus(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		for _, table := range []string{"session_status", "GLOBAL_STATUS", "SESSION_VARIABLES", "`global_variables`"} {
			p.alike(t, "SELECT COUNT(*) > 0 FROM information_schema."+table+" WHERE variable_name LIKE 'max%'")
		}
	})
}
