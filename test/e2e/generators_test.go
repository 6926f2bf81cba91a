package e2e

import (
	"database/sql"
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
