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

// In information_schema.TABLES the sizes of sharded tables are those of all shards, for users with bounds as well. The fields are called as on one server.
func TestSizesAreOfAllShards(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		for name, user := range map[string]string{"without bounds": "", "within bounds": ", databases: [{schema}]"} {
			t.Run(name, func(t *testing.T) {
				s := shop.Start(t, engine, shop.Options{User: user})
				sizes{db: s.DB(t, nil), shard: s.Shard(t, 0), schema: s.Schema, mysql: engine == servers.MySQL}.check(t)
			})
		}
	})
}

type sizes struct {
	db, shard *sql.DB
	schema    string
	mysql     bool
}

func (s sizes) check(t *testing.T) {
	exec(t, s.db, "CREATE TABLE visit (n BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, guest BIGINT NOT NULL, page VARCHAR(200), KEY (guest)) COMMENT 'locus: owner=guest'")
	exec(t, s.db, "CREATE TABLE plain (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, page VARCHAR(200))")
	for i := range 60 {
		exec(t, s.db, fmt.Sprintf("INSERT INTO visit (guest, page) VALUES (%d, '%s')", i+1, strings.Repeat("x", 150)))
	}
	exec(t, s.db, "INSERT INTO plain (page) VALUES ('a'), ('b')")
	exec(t, s.db, "ANALYZE TABLE visit")
	exec(t, s.db, "ANALYZE TABLE plain")
	from := " FROM information_schema.TABLES WHERE table_schema = '" + s.schema + "' AND table_name = 'visit'"
	both := " FROM information_schema.`tables` t WHERE t.table_schema = '" + s.schema + "' AND t.table_name IN ('visit', 'plain')"
	texts := map[string]string{
		"SELECT TABLE_ROWS" + from: "60",
		"SELECT table_rows, auto_increment, data_length DIV table_rows = avg_row_length, data_length >= 2 * 16384, UPDATE_TIME > '2026-01-01'" + from: "60 61 1 1 1",
		"SELECT SUM(t.table_rows), COUNT(*), MIN(Table_Rows)" + both:                                                                                  "62 2 2",
		"SELECT Table_Name, Table_Rows" + both + " ORDER BY table_rows DESC":                                                                          "visit 60, plain 2",
		"SELECT table_name" + both + " AND table_rows > 50":                                                                                           "visit",
		"SELECT (SELECT table_rows" + from + "), 1":                                                                                                   "60 1",
		"SELECT table_rows n, c.column_name" + strings.Replace(from, " WHERE", " JOIN information_schema.columns c USING (table_schema, table_name) WHERE", 1) + " AND c.column_name = 'guest'": "60 guest",
		"SELECT x.TABLE_ROWS FROM (SELECT *" + from + ") x":                                                                                 "60",
		"SELECT TABLES.table_rows, TABLES.*" + from + " AND TABLES.version = 7":                                                             "",
		"WITH w AS (SELECT table_name n, data_length + index_length + data_free d" + both + ") SELECT n, d >= 16384 FROM w ORDER BY n DESC": "visit 1, plain 1",
		"SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'information_schema' AND table_rows > 9999999":                 "0",
		"SELECT table_rows" + from + " UNION ALL SELECT auto_increment" + from:                                                              "60, 61",
	}
	for text, want := range texts {
		for _, way := range []struct {
			name string
			args []any
			text string
		}{{"as text", nil, text}, {"prepared", []any{1}, text + " LIMIT ?"}} {
			if way.args != nil && strings.Contains(want, ",") {
				way.args = []any{2}
			}
			fields, got := s.answer(t, s.db, way.text, way.args...)
			there, _ := s.answer(t, s.shard, way.text, way.args...)
			if got != want || fields != there {
				t.Errorf("%s, %s: %s [%s], should be %s [%s]", way.name, text, got, fields, want, there)
			}
		}
	}
	refused := map[string]string{"SELECT information_schema.tables.table_rows FROM information_schema.tables": "give the table an alias"}
	if s.mysql {
		refused["SELECT x.TABLE_ROWS FROM (TABLE information_schema.TABLES) AS x WHERE TABLE_NAME = 'visit'"] = "this shape"
	}
	for text, want := range refused {
		if _, err := s.db.Query(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// answer returns the names of the fields, and the rows.
func (s sizes) answer(t *testing.T, db *sql.DB, text string, args ...any) (fields, answer string) {
	t.Helper()
	rows, err := db.Query(text, args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for rows.Next() {
		values, into := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i] = v.String
		}
		all = append(all, strings.Join(texts, " "))
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return strings.Join(names, ","), strings.Join(all, ", ")
}

// No setting of the session changes the proxy's queries for the sizes.
func TestSizesUnderSettings(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{})
		db := s.DB(t, nil)
		db.SetMaxOpenConns(1)
		exec(t, db, "CREATE TABLE `a_bésuch` (guest BIGINT NOT NULL PRIMARY KEY) COMMENT 'locus: owner=guest'")
		for i := range 40 {
			exec(t, db, fmt.Sprintf("INSERT INTO `a_bésuch` VALUES (%d)", i+1))
		}
		exec(t, db, "ANALYZE TABLE `a_bésuch`")
		for _, setting := range []string{
			"sql_select_limit = 1", "character_set_results = latin1", "character_set_results = NULL", "sql_mode = 'ANSI_QUOTES'",
			"sql_mode = 'NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH'", "time_zone = '-11:00'", "group_concat_max_len = 4",
		} {
			exec(t, db, "SET "+setting)
			n := ""
			if err := db.QueryRow("SELECT CONCAT(table_rows) + 0 FROM information_schema.TABLES WHERE table_schema = '" + s.Schema + "' AND table_name LIKE 'a_b%'").Scan(&n); err != nil || n != "40" {
				t.Errorf("%s: TABLES has %q rows, %v", setting, n, err)
			}
			if shown := tableStatusOf(t, db, "SHOW TABLE STATUS LIKE 'a_b%'"); len(shown) != 1 {
				t.Errorf("%s: %v", setting, shown)
			} else {
				for _, row := range shown {
					if row["Rows"].String != "40" {
						t.Errorf("%s: SHOW TABLE STATUS has %q rows", setting, row["Rows"].String)
					}
				}
			}
			exec(t, db, "SET sql_select_limit = DEFAULT, character_set_results = utf8mb4, sql_mode = DEFAULT, time_zone = DEFAULT")
		}
	})
}
