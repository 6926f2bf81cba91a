package e2e

import (
	"database/sql"
	"fmt"
	"reflect"
	"testing"

	"locus/test/shop"
)

// A routine that names nothing that only the default shard has is made on all shards or none, and called where the
// rows are.
func TestRoutinesAreOnEveryShard(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		has := func(kind, name string) (where []int) {
			for i := range 2 {
				for range number(t, s.Shard(t, i), "SELECT COUNT(*) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE() AND ROUTINE_TYPE = '"+kind+"' AND ROUTINE_NAME = '"+name+"'") {
					where = append(where, i)
				}
			}
			return where
		}
		is := func(kind, name string, want ...int) {
			t.Helper()
			if got := has(kind, name); !reflect.DeepEqual(got, want) {
				t.Errorf("%s %s is on %v, want %v", kind, name, got, want)
			}
		}
		for i := range 12 {
			exec(t, db, "INSERT INTO test_order (buyer_uid, amount, status) VALUES (?, ?, 'new')", i%5, 10*i)
		}
		exec(t, db, "CREATE FUNCTION taxed(a DECIMAL(12,2)) RETURNS DECIMAL(12,2) DETERMINISTIC NO SQL RETURN a * 1.25")
		exec(t, db, "CREATE FUNCTION twice_taxed(a DECIMAL(12,2)) RETURNS DECIMAL(12,2) DETERMINISTIC NO SQL BEGIN DECLARE b DECIMAL(12,2); SET b = taxed(a); RETURN taxed(b); END")
		is("FUNCTION", "taxed", 0, 1)
		is("FUNCTION", "twice_taxed", 0, 1)
		for _, q := range [][2]string{
			{"SELECT taxed(amount) FROM test_order WHERE buyer_uid = %d ORDER BY amount", "SELECT CAST(amount * 1.25 AS DECIMAL(12,2)) FROM test_order WHERE buyer_uid = %d ORDER BY amount"},
			{"SELECT amount FROM test_order WHERE twice_taxed(amount) > 50 AND buyer_uid = %d ORDER BY amount", "SELECT amount FROM test_order WHERE amount > 32 AND buyer_uid = %d ORDER BY amount"},
			{"SELECT MAX(taxed(amount)) FROM test_order WHERE buyer_uid = %d", "SELECT CAST(MAX(amount) * 1.25 AS DECIMAL(12,2)) FROM test_order WHERE buyer_uid = %d"},
		} {
			for buyer := range 5 { // on both shards
				got, want := rows(t, db, fmt.Sprintf(q[0], buyer)), rows(t, db, fmt.Sprintf(q[1], buyer))
				if !reflect.DeepEqual(got, want) || len(got) == 0 {
					t.Errorf("%s: %v, want %v", q[0], got, want)
				}
			}
		}

		exec(t, db, "CREATE PROCEDURE taxing(OUT n INT) BEGIN SET n = taxed(8); END")
		is("PROCEDURE", "taxing", 0, 1)
		exec(t, db, "ALTER FUNCTION taxed COMMENT 'with the tax'")
		for i := range 2 {
			if got := number(t, s.Shard(t, i), "SELECT COUNT(*) FROM information_schema.ROUTINES WHERE ROUTINE_NAME = 'taxed' AND ROUTINE_COMMENT = 'with the tax'"); got != 1 {
				t.Errorf("s%d has the comment %d times", i, got)
			}
		}
		_, err := db.Exec("CREATE FUNCTION taxed(a INT) RETURNS INT DETERMINISTIC NO SQL RETURN a")
		refused(t, err, 1304, "taxed")
		is("FUNCTION", "taxed", 0, 1)

		// A routine that names a table of the default shard is made there only.
		exec(t, db, "CREATE FUNCTION settings() RETURNS BIGINT READS SQL DATA RETURN (SELECT COUNT(*) FROM setting)")
		is("FUNCTION", "settings", 0)
		exec(t, db, "CREATE FUNCTION more_settings() RETURNS BIGINT READS SQL DATA RETURN settings() + 1")
		is("FUNCTION", "more_settings", 0)
		if got := number(t, db, "SELECT more_settings() - settings()"); got != 1 {
			t.Errorf("more_settings() - settings() = %d", got)
		}
		_, err = db.Exec("SELECT amount + settings() FROM test_order")
		refused(t, err, 1235, "locus-1007")
		exec(t, db, "DROP FUNCTION more_settings")
		is("FUNCTION", "more_settings")
		exec(t, db, "DROP FUNCTION settings")
		_, err = db.Exec("DROP FUNCTION settings")
		refused(t, err, 1305, "settings")

		// A routine that one shard already has is not made on any.
		exec(t, s.Shard(t, 1), "CREATE FUNCTION other() RETURNS INT DETERMINISTIC NO SQL RETURN 1")
		_, err = db.Exec("CREATE FUNCTION other() RETURNS INT DETERMINISTIC NO SQL RETURN 2")
		refused(t, err, 1304, "on shard s1: ")
		refused(t, err, 1304, "it was made on s0 and dropped there again")
		is("FUNCTION", "other", 1)
		exec(t, db, "DROP FUNCTION IF EXISTS other")
		is("FUNCTION", "other")
		exec(t, db, "CREATE FUNCTION other() RETURNS INT DETERMINISTIC NO SQL RETURN 2")
		exec(t, s.Shard(t, 0), "DROP FUNCTION other")
		exec(t, db, "DROP FUNCTION other") // once the shards are looked at, or where it is
		is("FUNCTION", "other")

		_, err = db.Exec("CREATE FUNCTION wrong() RETURNS INT DETERMINISTIC NO SQL RETURN )")
		refused(t, err, 1064, "")
		exec(t, db, "DROP PROCEDURE taxing")
		is("PROCEDURE", "taxing")
		exec(t, db, "DROP FUNCTION twice_taxed")
		exec(t, db, "DROP FUNCTION IF EXISTS taxed")
		is("FUNCTION", "taxed")
		exec(t, db, "DROP FUNCTION IF EXISTS taxed")
	})
}

// Replacing a routine leaves no other one of its name on any shard.
func TestRoutinesAreReplacedEverywhere(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		replaces := number(t, s.Shard(t, 0), "SELECT VERSION() LIKE '%MariaDB%'") == 1
		create := func(body string) error {
			if _, err := db.Exec("DROP FUNCTION IF EXISTS f"); err != nil && !replaces {
				return err
			}
			_, err := db.Exec("CREATE FUNCTION f() RETURNS BIGINT DETERMINISTIC READS SQL DATA RETURN " + body)
			return err
		}
		if replaces {
			create = func(body string) error {
				_, err := db.Exec("CREATE OR REPLACE FUNCTION f() RETURNS BIGINT DETERMINISTIC READS SQL DATA RETURN " + body)
				return err
			}
		}
		says := func(shard int, want int64) {
			t.Helper()
			if got := number(t, s.Shard(t, shard), "SELECT f()"); got != want {
				t.Errorf("f() is %d on s%d, want %d", got, shard, want)
			}
		}
		for n := range int64(2) {
			if err := create(fmt.Sprint(n)); err != nil {
				t.Fatal(err)
			}
			says(0, n)
			says(1, n)
		}
		if _, err := db.Exec("CREATE FUNCTION IF NOT EXISTS f() RETURNS BIGINT DETERMINISTIC NO SQL RETURN 5"); err != nil {
			t.Error(err)
		}
		says(0, 1)
		says(1, 1)
		err := create("(SELECT COUNT(*) + 7 FROM setting)")
		if replaces {
			refused(t, err, 1235, "locus-1007: ")
			refused(t, err, 1235, "DROP FUNCTION it first")
			says(0, 1)
			says(1, 1)
			exec(t, db, "DROP FUNCTION f")
			err = create("(SELECT COUNT(*) + 7 FROM setting)")
		}
		if err != nil {
			t.Fatal(err)
		}
		says(0, number(t, db, "SELECT COUNT(*) + 7 FROM setting"))
		if got := number(t, s.Shard(t, 1), "SELECT COUNT(*) FROM information_schema.ROUTINES WHERE ROUTINE_NAME = 'f'"); got != 0 {
			t.Error("s1 has kept another f()")
		}
		_, err = db.Exec("CREATE FUNCTION IF NOT EXISTS f() RETURNS BIGINT DETERMINISTIC NO SQL RETURN 5")
		refused(t, err, 1235, "is on shard s0 alone")
		if err := create("8"); err != nil {
			t.Fatal(err)
		}
		says(0, 8)
		says(1, 8)
	})
}

// A database that only the default shard has may have routines.
func TestRoutinesOfADatabaseThatOneShardHas(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		const schema = "there_alone"
		exec(t, s.Shard(t, 0), "CREATE DATABASE "+schema)
		t.Cleanup(func() { exec(t, s.Shard(t, 0), "DROP DATABASE "+schema) })
		exec(t, db, "CREATE FUNCTION "+schema+".f() RETURNS INT DETERMINISTIC NO SQL RETURN 3")
		if got := number(t, db, "SELECT "+schema+".f()"); got != 3 {
			t.Errorf("f() is %d", got)
		}
		exec(t, db, "DROP FUNCTION "+schema+".f")
		c, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for _, text := range []string{"USE " + schema, "CREATE FUNCTION g() RETURNS INT DETERMINISTIC NO SQL RETURN 4", "DO g()", "ALTER FUNCTION g COMMENT 'four'", "DROP FUNCTION g"} {
			if _, err := c.ExecContext(t.Context(), text); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
	})
}
