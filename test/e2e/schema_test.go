package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"locus/test/shop"
)

// oneSession gives a session of its own: do runs one, ask reads its rows.
func oneSession(t *testing.T, db *sql.DB) (do func(string) error, ask func(string) string) {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	do = func(query string) error {
		_, err := conn.ExecContext(t.Context(), query)
		return err
	}
	ask = func(query string) string {
		t.Helper()
		rows, err := conn.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		defer rows.Close()
		columns, _ := rows.Columns()
		text := ""
		for rows.Next() {
			values := make([]sql.NullString, len(columns))
			pointers := make([]any, len(columns))
			for i := range values {
				pointers[i] = &values[i]
			}
			if err := rows.Scan(pointers...); err != nil {
				t.Fatal(err)
			}
			for _, v := range values {
				if !v.Valid {
					v.String = "NULL"
				}
				text += v.String + "|"
			}
		}
		return text
	}
	return do, ask
}

func TestADroppedDatabaseIsNobodysAnyMore(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		name := s.Schema + "_dropped"
		t.Cleanup(func() { _, _ = db.ExecContext(context.WithoutCancel(t.Context()), "DROP DATABASE IF EXISTS "+name) })
		do, ask := oneSession(t, db)
		run := func(query string) {
			t.Helper()
			if err := do(query); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
		}
		for range 3 {
			run("CREATE DATABASE " + name)
			run("USE " + name)
			run("CREATE TABLE t (a INT)")
			if got := ask("SELECT DATABASE()"); got != name+"|" {
				t.Errorf("the database is %s", got)
			}
			run("DROP DATABASE " + name)
			if got := ask("SELECT DATABASE()"); got != "NULL|" {
				t.Errorf("the database is %s once it is dropped", got)
			}
			refused(t, do("CREATE TABLE t (a INT)"), 1046, "No database selected")
		}
		run("CREATE DATABASE " + name)
		run("CREATE DATABASE IF NOT EXISTS " + name)
		if got, want := ask("SHOW WARNINGS"), fmt.Sprintf("Note|1007|Can't create database '%s'; database exists|", name); got != want {
			t.Errorf("warnings are %s, want %s", got, want)
		}
	})
}

func TestSettingsAreCarriedPastWideCharacterSets(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, _ *shop.Shop, db *sql.DB) {
		do, ask := oneSession(t, db)
		for _, query := range []string{
			"SET time_zone = '+03:00'", "SET default_storage_engine = 'MyISAM'", "SET NAMES utf8mb4",
			"SET character_set_connection = utf16", "SET sql_mode = 'ANSI_QUOTES'", "SET NAMES latin1",
		} {
			if err := do(query); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			_ = ask("SELECT 1 FROM DUAL WHERE 1")
		}
		if got := ask("SELECT @@time_zone, @@default_storage_engine, @@sql_mode"); got != "+03:00|MyISAM|ANSI_QUOTES|" {
			t.Errorf("the session has %s", got)
		}
	})
}
