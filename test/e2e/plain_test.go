package e2e

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
	"locus/test/shop"
)

// refused reports whether an error has the number and contains the words.
func refused(t *testing.T, err error, number uint16, words string) {
	t.Helper()
	var e *mysql.MySQLError
	if !errors.As(err, &e) {
		t.Errorf("error %v, want MySQL's %d with %q", err, number, words)
		return
	}
	if e.Number != number || !strings.Contains(e.Message, words) {
		t.Errorf("error %d %q, want %d with %q", e.Number, e.Message, number, words)
	}
}

func TestTablesThatNobodyDeclared(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		exec(t, db, "CREATE TABLE notes (id INT AUTO_INCREMENT PRIMARY KEY, note VARCHAR(20))")
		r := exec(t, db, "INSERT INTO notes (note) VALUES (?), (?)", "a", "b")
		if id, _ := r.LastInsertId(); id != 1 {
			t.Errorf("insert ID %d, want 1", id)
		}
		if got := rows(t, db, "SELECT * FROM notes WHERE id >= ? ORDER BY id", 1); fmt.Sprint(got) != "[1 a 2 b]" {
			t.Errorf("rows %v", got)
		}
		if got := number(t, s.Shard(t, 0), "SELECT COUNT(*) FROM notes"); got != 2 {
			t.Errorf("%d rows on the first shard, want 2", got)
		}
		if _, err := s.Shard(t, 1).Exec("SELECT * FROM notes"); err == nil {
			t.Error("the table is on the second shard too")
		}
		_, err := db.Exec("SELECT nothing FROM notes")
		refused(t, err, 1054, "nothing")
		_, err = db.Exec("SELEC 1")
		refused(t, err, 1064, "SELEC")
	})
}

func TestGlobalAndSingleTables(t *testing.T) {
	each(t, shop.Options{Spare: 1}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		r := exec(t, db, "INSERT INTO product VALUES (?, ?, ?), (2, 'tea', 3)", 1, "cup", "9.90")
		if n, _ := r.RowsAffected(); n != 2 {
			t.Errorf("%d rows affected, want 2", n)
		}
		for i := range 3 {
			if got := number(t, s.Shard(t, i), "SELECT COUNT(*) FROM product"); got != 2 {
				t.Errorf("%d products on shard s%d, want 2", got, i)
			}
		}
		_, err := db.Exec("INSERT INTO product VALUES (3, 'x', 1), (1, 'again', 1)")
		refused(t, err, 1062, "Duplicate")
		for i := range 3 {
			if got := number(t, s.Shard(t, i), "SELECT COUNT(*) FROM product"); got != 2 {
				t.Errorf("%d products on shard s%d after a failed insert, want 2", got, i)
			}
		}
		exec(t, db, "UPDATE product SET price = price + 1 WHERE product_id = ?", 2)
		if got := rows(t, db, "SELECT name, price FROM product ORDER BY product_id"); fmt.Sprint(got) != "[cup 9.90 tea 4.00]" {
			t.Errorf("products %v", got)
		}
		exec(t, db, "REPLACE INTO setting VALUES ('currency', ?)", "EUR")
		if got := rows(t, db, "SELECT value FROM setting"); fmt.Sprint(got) != "[EUR]" {
			t.Errorf("setting %v", got)
		}
	})
}

func TestSessionState(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{})
		db := s.DB(t, nil)
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		run := func(query string) {
			t.Helper()
			if _, err := conn.ExecContext(t.Context(), query); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
		}
		value := func(query string) (v string) {
			t.Helper()
			if err := conn.QueryRowContext(t.Context(), query).Scan(&v); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			return v
		}
		run("SET @a = 5, sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES'), time_zone = '+03:00'")
		if got := value(`SELECT @a + 1`); got != "6" {
			t.Errorf("@a + 1 = %s", got)
		}
		if got := value(`SELECT "value" FROM (SELECT 7 AS "value") x`); got != "7" {
			t.Errorf("ANSI_QUOTES: %s", got)
		}
		if got := value("SELECT @@time_zone"); got != "+03:00" {
			t.Errorf("time zone %s", got)
		}
		run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
		run("USE information_schema")
		if got := value("SELECT DATABASE()"); got != "information_schema" {
			t.Errorf("database %s", got)
		}
		other, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		var got string
		if err := other.QueryRowContext(t.Context(), "SELECT CONCAT(@@time_zone, COALESCE(@a, ''), DATABASE())").Scan(&got); err != nil || got != "SYSTEM"+s.Schema {
			t.Errorf("another session sees %q (%v)", got, err)
		}
		_, err = conn.ExecContext(t.Context(), "SET no_such_variable = 1")
		refused(t, err, 1193, "no_such_variable")
		_, err = conn.ExecContext(t.Context(), "USE no_such_database")
		refused(t, err, 1049, "no_such_database")
		_, err = conn.ExecContext(t.Context(), "SET NAMES gbk")
		refused(t, err, 1115, "utf8mb4")
		if got := value("SELECT @a"); got != "5" {
			t.Errorf("@a = %s after refused statements", got)
		}
	})
}

// TestUseOfNoDatabase selects a database without a name, which drivers do by
// COM_INIT_DB.
func TestUseOfNoDatabase(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, _ *shop.Shop, db *sql.DB) {
		_, err := db.Exec("USE ``")
		if err == nil {
			t.Error("it is selected")
		}
		if got := number(t, db, "SELECT COUNT(*) FROM setting"); got != 0 {
			t.Errorf("%d rows", got)
		}
	})
}

// TestADatabaseIsMadeAnew reads the collation of a database in new sessions, after the database was altered, and
// after it was dropped and created again, since connections selected it.
func TestADatabaseIsMadeAnew(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{})
		// A session without a database gets no connection that has a database.
		db := s.DB(t, func(c *mysql.Config) { c.DBName = "" })
		name := s.Schema + "_made"
		exec(t, db, "CREATE DATABASE "+name)
		t.Cleanup(func() { exec(t, db, "DROP DATABASE "+name) })
		for _, test := range []struct{ collation, change string }{
			{"utf8mb4_bin", "ALTER DATABASE " + name + " COLLATE utf8mb4_bin"},
			{"utf8mb4_unicode_ci", "DROP DATABASE " + name},
		} {
			if collation(t, s, name) == test.collation {
				t.Fatalf("it is %s already", test.collation)
			}
			exec(t, db, test.change)
			if test.change[:4] == "DROP" {
				exec(t, db, "CREATE DATABASE "+name+" COLLATE "+test.collation)
			}
			if got := collation(t, s, name); got != test.collation {
				t.Errorf("after %s it is %s, want %s", test.change, got, test.collation)
			}
		}
	})
}

// TestAResetKeepsWhatIsKnownOfADatabase reads the collation of a database on connections that have called a
// procedure. They are reset before another session gets them.
func TestAResetKeepsWhatIsKnownOfADatabase(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{})
		db := s.DB(t, nil)
		exec(t, db, "ALTER DATABASE "+s.Schema+" COLLATE utf8mb4_bin")
		exec(t, db, "CREATE PROCEDURE called() SELECT 1")
		for range 3 {
			caller := s.DB(t, nil)
			exec(t, caller, "CALL called()")
			_ = caller.Close()
			if got := collation(t, s, s.Schema); got != "utf8mb4_bin" {
				t.Errorf("it is %s", got)
			}
		}
	})
}

// collation asks a session of its own.
func collation(t *testing.T, s *shop.Shop, database string) (name string) {
	t.Helper()
	db := s.DB(t, func(c *mysql.Config) { c.DBName = database })
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), "SELECT @@collation_database").Scan(&name); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestOutParameters reads the OUT parameters of a prepared CALL, which are a result of their own, and continues with the
// session.
func TestOutParameters(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{})
		db := s.DB(t, nil)
		db.SetMaxOpenConns(1)
		exec(t, db, "CREATE PROCEDURE next(IN a INT, OUT b INT) BEGIN SET b = a + 1; END")
		for range 2 {
			var next int
			if err := db.QueryRowContext(t.Context(), "CALL next(?, ?)", 3, nil).Scan(&next); err != nil || next != 4 {
				t.Errorf("after 3 comes %d (%v)", next, err)
			}
			if got := number(t, db, "SELECT 42"); got != 42 {
				t.Errorf("got %d", got)
			}
		}
	})
}
