package e2e

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/test/shop"
)

// tableStatusOf returns SHOW TABLE STATUS by the names of tables, each a row by the names of its columns.
func tableStatusOf(t *testing.T, db *sql.DB, text string, args ...any) map[string]map[string]sql.NullString {
	t.Helper()
	rows, err := db.Query(text, args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]sql.NullString{}
	for rows.Next() {
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		row := map[string]sql.NullString{}
		for i, name := range columns {
			row[name] = values[i]
		}
		all[row["Name"].String] = row
	}
	return all
}

// SHOW TABLE STATUS adds up the sizes of sharded tables over the shards. Those of other tables are those of one copy.
func TestTableStatusIsOfAllShards(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{})
		db := s.DB(t, nil)
		exec(t, db, "CREATE TABLE visit (n BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, guest BIGINT NOT NULL, page VARCHAR(200), KEY (guest)) COMMENT 'locus: owner=guest'")
		exec(t, db, "CREATE TABLE country (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, page VARCHAR(200)) COMMENT 'locus: global'")
		exec(t, db, "CREATE TABLE plain (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, page VARCHAR(200))")
		for i := range 60 {
			for _, into := range []string{"visit (guest, page) VALUES (%d, '%s')", "country (id, page) VALUES (%d, '%s')", "plain (id, page) VALUES (%d, '%s')"} {
				exec(t, db, "INSERT INTO "+fmt.Sprintf(into, i+1, strings.Repeat("x", 150)))
			}
		}
		exec(t, db, "ANALYZE TABLE visit, country")
		exec(t, db, "ANALYZE TABLE plain")
		texts := map[string][]any{
			"SHOW TABLE STATUS": nil, "SHOW TABLE STATUS FROM `" + s.Schema + "`": nil, "SHOW TABLE STATUS WHERE Name IN ('visit', 'country', 'plain')": nil,
			"SHOW TABLE STATUS WHERE Name LIKE ?": {"%"},
		}
		for text, args := range texts {
			all := tableStatusOf(t, db, text, args...)
			for _, name := range []string{"visit", "country", "plain"} {
				row := all[name]
				if row["Rows"].String != "60" || row["Auto_increment"].String != "61" {
					t.Errorf("%s: %s has %s rows, and goes on at %s", text, name, row["Rows"].String, row["Auto_increment"].String)
				}
				var average, data int64
				_, _ = fmt.Sscan(row["Avg_row_length"].String, &average)
				_, _ = fmt.Sscan(row["Data_length"].String, &data)
				if average != data/60 || data == 0 || name == "visit" && data < 2*16384 {
					t.Errorf("%s: %s has %d bytes, %d in a row", text, name, data, average)
				}
				if len(row["Create_time"].String) < len("2026-01-01 00:00:00") || row["Engine"].String != "InnoDB" {
					t.Errorf("%s: %s was made at %s, by %s", text, name, row["Create_time"].String, row["Engine"].String)
				}
			}
		}
		if all := tableStatusOf(t, db, "SHOW TABLE STATUS LIKE 'vis%'"); len(all) != 1 || all["visit"]["Rows"].String != "60" {
			t.Errorf("%v", all)
		}
		for _, condition := range []string{"`Rows` > 1", "Name = 'visit' AND data_length + index_length > 7", "Auto_increment IS NULL"} {
			if _, err := db.Query("SHOW TABLE STATUS WHERE " + condition); err == nil || !strings.Contains(err.Error(), "are added up") {
				t.Errorf("%s: %v", condition, err)
			}
		}
	})
}
