package e2e

import (
	"database/sql"
	"strconv"
	"strings"
	"testing"

	"locus/cmd/generators"
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
		first, second := number(t, db, "SELECT NEXTVAL(turns)"), number(t, db, "SELECT NEXTVAL(turns)")
		if first&1 == second&1 {
			t.Errorf("%d and %d are of one generator", first, second)
		}
	})
}
