package e2e

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/router/cluster"
	"locus/test/shop"
)

// TestUsersSeeWhatTheyMayUse lists databases and tables, and reads information_schema, as users with limited rights.
func TestUsersSeeWhatTheyMayUse(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		exec(t, db, "CREATE TABLE secret (secret_id INT)")
		declare(s, map[string]cluster.User{
			"narrow":   {Tables: []string{s.Schema + ".test_order", s.Schema + ".product"}},
			"database": {Databases: []string{s.Schema}},
		})
		narrow, whole := known(t, as(t, s, "narrow", nil)), known(t, as(t, s, "database", nil))
		everything := rows(t, db, "SHOW TABLES")
		for _, query := range []string{
			"SHOW TABLES",
			"SHOW TABLES FROM " + s.Schema + " WHERE 1 = 0 OR 1 = 1",
			"SHOW TABLES LIKE '%'",
			"SELECT TABLE_NAME FROM information_schema.TABLES WHERE table_schema = DATABASE() ORDER BY 1",
			"select t.TABLE_NAME from `information_schema`.tables as t join information_schema.columns c on c.table_schema = t.table_schema and c.table_name = t.table_name" +
				" where t.table_schema = database() and c.ordinal_position = 1 order by 1",
			"SELECT DISTINCT TABLE_NAME FROM (SELECT * FROM information_schema.columns) AS c WHERE table_schema = DATABASE() ORDER BY 1",
			"SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name NOT IN (SELECT 'x' FROM information_schema.schemata) ORDER BY 1",
		} {
			if got := rows(t, narrow, query); !slices.Equal(got, []string{"product", "test_order"}) {
				t.Errorf("narrow: %s: %q", query, got)
			}
			if got := rows(t, whole, query); !slices.Equal(got, everything) {
				t.Errorf("database: %s: %q, want %q", query, got, everything)
			}
		}
		visible := []string{"information_schema", s.Schema}
		slices.Sort(visible)
		for _, query := range []string{
			"SHOW DATABASES", "SHOW SCHEMAS LIKE '%'", "SHOW DATABASES WHERE `Database` <> 'x'",
			"SELECT schema_name FROM information_schema.schemata ORDER BY 1",
			"SELECT DISTINCT table_schema FROM information_schema.tables ORDER BY 1",
		} {
			for name, user := range map[string]*sql.DB{"narrow": narrow, "database": whole} {
				if got := rows(t, user, query); !slices.Equal(lower(got), visible) {
					t.Errorf("%s: %s: %q, want %q", name, query, got, visible)
				}
			}
		}
		for query, want := range map[string]int{
			"SHOW TABLES LIKE 'sec%'": 0, "SHOW TABLE STATUS LIKE 'secret'": 0, "SHOW TABLE STATUS": 2, "SHOW OPEN TABLES WHERE `Table` = 'secret'": 0,
			"SHOW TRIGGERS": 0, "SHOW EVENTS": 0, "SHOW PROCEDURE STATUS": 0,
			"SELECT 1 FROM information_schema.columns WHERE column_name = 'secret_id'": 0,
			"SELECT 1 FROM information_schema.collations LIMIT 1":                      1,
		} {
			if got := rows(t, narrow, query); len(got) != want {
				t.Errorf("%s: %q, want %d rows", query, got, want)
			}
		}
		for _, query := range []string{
			"INSERT INTO product SELECT 1, table_name, 1 FROM information_schema.tables",
			"CREATE TABLE mine AS SELECT * FROM information_schema.tables",
			"SET @a = (SELECT COUNT(*) FROM information_schema.tables)",
			"DO (SELECT COUNT(*) FROM information_schema.tables)",
			"SELECT * FROM information_schema.innodb_metrics",
		} {
			_, err := narrow.Exec(query)
			refused(t, err, 1142, "denied")
		}
		within := as(t, s, "narrow", func(c *mysql.Config) { c.DBName = "information_schema" })
		if got := fmt.Sprint(rows(t, within, "SELECT table_name FROM tables WHERE table_name IN ('secret', 'product')")); got != "[product]" {
			t.Errorf("in information_schema itself: %s", got)
		}
	})
}

func lower(list []string) []string {
	for i := range list {
		list[i] = strings.ToLower(list[i])
	}
	slices.Sort(list)
	return list
}
