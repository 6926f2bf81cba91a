package e2e

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"locus/control/generators"
	"locus/proxy"
	"locus/test/shop"
)

// NEXT VALUE FOR and NEXTVAL() of a declared generator; names that are not
// declared are the server's.
func TestNextValueFor(t *testing.T) {
	var set *generators.Set
	options := shop.Options{
		Declarations: "generators:\n  seq: {kind: segment}\n  invoice: {kind: format, template: \"QJ{seq:6}\"}\n",
		Options: func(o *proxy.Options) {
			set = generators.New(generators.Options{KV: shop.Segments(), Name: "test"})
			o.Generators = set
		},
	}
	t.Cleanup(func() {
		if set != nil {
			_ = set.Close()
		}
	})
	each(t, options, func(t *testing.T, _ *shop.Shop, db *sql.DB) {
		db.SetMaxOpenConns(1)
		for want := int64(1); want <= 3; want++ {
			if n := number(t, db, "SELECT NEXT VALUE FOR seq"); n != want {
				t.Errorf("NEXT VALUE FOR gives %d, want %d", n, want)
			}
		}
		rows, err := db.Query("SELECT NEXTVAL(seq)")
		if err != nil {
			t.Fatal(err)
		}
		if columns, err := rows.Columns(); err != nil || columns[0] != "NEXTVAL(seq)" {
			t.Errorf("column %v, %v", columns, err)
		}
		_ = rows.Close()
		var text string
		if err := db.QueryRow("SELECT NEXTVAL(invoice) AS n").Scan(&text); err != nil || text != "QJ000001" {
			t.Errorf("%q, %v", text, err)
		}
		exec(t, db, "INSERT INTO setting (name, value) VALUES ('a', NEXTVAL(seq)), ('b', NEXT VALUE FOR `seq`)")
		if n := number(t, db, "SELECT SUM(value) FROM setting WHERE name IN ('a', 'b')"); n != 5+6 {
			t.Errorf("the rows have %d, want 5 and 6", n)
		}
		_, err = db.Exec("UPDATE setting SET value = NEXTVAL(seq)")
		if err == nil || !strings.Contains(err.Error(), "may need more than one") {
			t.Errorf("one number for many rows: %v", err)
		}
		rows, err = db.Query("SELECT NEXTVAL(seq), 7, NEXT VALUE FOR seq, NEXTVAL(seq) AS n")
		if err != nil {
			t.Fatal(err)
		}
		if columns, err := rows.Columns(); err != nil || strings.Join(columns, " | ") != "NEXTVAL(seq) | 7 | NEXT VALUE FOR seq | n" {
			t.Errorf("columns %v, %v", columns, err)
		}
		_ = rows.Close()
		if _, err := db.Exec("SELECT NEXT VALUE FOR nobody"); err == nil {
			t.Error("a sequence that nobody made has a value")
		}
	})
}

// Numbers that shards count: in statements, in stamped columns, also behind other
// generators.
func TestNumbersOfShards(t *testing.T) {
	options := shop.Options{
		Tables: []string{`CREATE TABLE {schema}.ticket (
			ticket_id BIGINT NOT NULL PRIMARY KEY, holder BIGINT NOT NULL, receipt BIGINT NOT NULL, voucher VARCHAR(19) NOT NULL
		) DEFAULT CHARSET utf8mb4`},
		Declarations: `  {schema}.ticket:
    kind: sharded
    owner: holder
    id: {column: ticket_id, layout: int64}
    stamped: {receipt: receipt, voucher: voucher}
generators:
  receipt: {kind: row, shards: [s1], lock: local}
  voucher: {kind: auto_increment, shards: [s0, s1]}
  turns: {kind: ha, of: [receipt, voucher]}
`,
		Options: func(o *proxy.Options) {
			set := generators.New(generators.Options{KV: shop.Segments(), Name: "test", Secrets: o.Secrets})
			o.Generators = set
			t.Cleanup(func() { _ = set.Close() })
		},
	}
	each(t, options, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		before := number(t, db, "SELECT NEXTVAL(receipt)")
		exec(t, db, "INSERT INTO ticket (holder) VALUES (42), (10001), (?), (8)", 7)
		exec(t, db, "INSERT INTO ticket (holder, receipt, voucher) VALUES (42, NULL, NEXTVAL(voucher))")
		after := number(t, db, "SELECT NEXT VALUE FOR receipt")
		if after != before+6 {
			t.Errorf("a number after %d and 5 rows is %d", before, after)
		}
		if n := number(t, db, "SELECT COUNT(DISTINCT receipt) FROM ticket WHERE receipt > "+strconv.FormatInt(before, 10)+" AND receipt < "+strconv.FormatInt(after, 10)); n != 5 {
			t.Errorf("%d of 5 rows have a number between", n)
		}
		if n := number(t, db, "SELECT COUNT(DISTINCT voucher) FROM ticket WHERE voucher > 0"); n != 5 {
			t.Errorf("%d of 5 rows have a number of the tables", n)
		}
		inTurn(t, db)
	})
}

// inTurn takes numbers of an ha generator until each of its two members has issued some, twice. Requests go to the
// members in turn, and no request is for more than 4,096 numbers.
func inTurn(t *testing.T, db *sql.DB) {
	t.Helper()
	const longest = 4096
	seen := map[int64]bool{}
	member, changes, run := int64(-1), 0, 0
	for changes < 4 {
		n := number(t, db, "SELECT NEXTVAL(turns)")
		if seen[n] {
			t.Fatalf("%d comes twice", n)
		}
		seen[n] = true
		if run++; n&1 != member {
			member, run = n&1, 1
			changes++
		}
		if run > longest {
			t.Fatalf("%d numbers, up to %d, are of one generator", run, n)
		}
	}
}

// In prepared statements each execution gets numbers of its own, between the client's parameters. The client sees the
// columns and parameters of its own statement.
func TestNextValueForPrepared(t *testing.T) {
	options := shop.Options{
		Declarations: "generators:\n  seq: {kind: segment}\n  invoice: {kind: format, template: \"QJ{seq:6}\"}\n",
		Options: func(o *proxy.Options) {
			set := generators.New(generators.Options{KV: shop.Segments(), Name: "test"})
			o.Generators = set
			t.Cleanup(func() { _ = set.Close() })
		},
	}
	each(t, options, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		db.SetMaxOpenConns(1)
		prepare := func(text string) *sql.Stmt {
			t.Helper()
			stmt, err := db.Prepare(text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			t.Cleanup(func() { _ = stmt.Close() })
			return stmt
		}
		next := prepare("SELECT NEXT VALUE FOR seq")
		for want := int64(1); want <= 3; want++ {
			rows, err := next.Query()
			if err != nil {
				t.Fatal(err)
			}
			types, err := rows.ColumnTypes()
			if err != nil || types[0].Name() != "NEXT VALUE FOR seq" || types[0].DatabaseTypeName() != "BIGINT" {
				t.Errorf("column %s of type %s, %v", types[0].Name(), types[0].DatabaseTypeName(), err)
			}
			var n int64
			if !rows.Next() || rows.Scan(&n) != nil || n != want {
				t.Errorf("execution %d gives %d", want, n)
			}
			_ = rows.Close()
		}
		var a, c, e string
		var b, d int64
		mixed := prepare("SELECT ?, NEXTVAL(seq) AS b, ?, NEXTVAL(`seq`) + 1 AS d, NEXTVAL(invoice) AS e")
		for i := range int64(2) {
			if err := mixed.QueryRow("first", "third").Scan(&a, &b, &c, &d, &e); err != nil {
				t.Fatal(err)
			}
			if a != "first" || b != 4+2*i || c != "third" || d != 6+2*i || e != fmt.Sprintf("QJ%06d", i+1) {
				t.Errorf("execution %d gives %s, %d, %s, %d, %s", i, a, b, c, d, e)
			}
		}
		insert := prepare("INSERT INTO setting (name, value) VALUES (?, NEXTVAL(seq)), (?, NEXTVAL(invoice))")
		for _, name := range []string{"a", "b"} {
			if _, err := insert.Exec(name+"1", name+"2"); err != nil {
				t.Fatal(err)
			}
		}
		for question, want := range map[string]int64{
			"SELECT value FROM setting WHERE name = 'a1'":                                      8,
			"SELECT value FROM setting WHERE name = 'b1'":                                      9,
			"SELECT COUNT(*) FROM setting WHERE value IN ('QJ000003', 'QJ000004')":             2,
			"SELECT COUNT(*) FROM setting WHERE name IN ('a2', 'b2') AND value LIKE 'QJ0000%'": 2,
		} {
			if n := number(t, db, question); n != want {
				t.Errorf("%s: %d, want %d", question, n, want)
			}
		}
		sharded := prepare("INSERT INTO test_order (buyer_uid, amount, status) VALUES (?, NEXTVAL(seq), ?)")
		for _, buyer := range []int64{42, 10001, 42} {
			if _, err := sharded.Exec(buyer, "counted"); err != nil {
				t.Fatal(err)
			}
		}
		if n := number(t, db, "SELECT COUNT(*) FROM test_order WHERE status = 'counted' AND amount IN (10, 11, 12)"); n != 3 {
			t.Errorf("%d of three orders have 10, 11 or 12", n)
		}
		set := prepare("SET @n = NEXTVAL(seq)")
		for _, want := range []int64{13, 14} {
			if _, err := set.Exec(); err != nil {
				t.Fatal(err)
			}
			if n := number(t, db, "SELECT @n"); n != want {
				t.Errorf("@n is %d, want %d", n, want)
			}
		}
		if _, err := db.Prepare("UPDATE setting SET value = NEXTVAL(seq)"); err == nil || !strings.Contains(err.Error(), "may need more than one") {
			t.Errorf("one number for many rows: %v", err)
		}
		long := prepare("INSERT INTO setting (value, name) VALUES (NEXTVAL(seq), ?)")
		if _, err := long.Exec(strings.Repeat("x", 64)); err != nil {
			t.Error(err)
		}
	})
}
