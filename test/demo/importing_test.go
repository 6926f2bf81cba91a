package demo

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/test/product"
)

// imports shards an undeclared table with rows, by orders in SQL, and watches the job with commands.
func (d *demo) imports(one, other, dba *sql.DB, rows func(table string) []int) {
	d.t.Helper()
	exec := func(db *sql.DB, query string, args ...any) {
		d.t.Helper()
		if _, err := db.Exec(query, args...); err != nil {
			d.t.Fatalf("%s: %v", query, err)
		}
	}
	exec(one, "CREATE TABLE old_cart (id BIGINT NOT NULL PRIMARY KEY, owner BIGINT NOT NULL, KEY (owner))")
	list, err := one.Query("SELECT id, owner FROM cart_0")
	if err != nil {
		d.t.Fatal(err)
	}
	defer list.Close()
	for list.Next() {
		var id, owner int64
		if err := list.Scan(&id, &owner); err != nil {
			d.t.Fatal(err)
		}
		exec(other, "INSERT INTO old_cart VALUES (?, ?)", id, owner)
	}
	name := d.Database + ".old_cart"
	for text, want := range map[string]string{
		"ALTER TABLE " + name + " COMMENT 'locus: owner=owner id=id'":    "locus import",
		"CALL locus.import('" + name + "', 'owner=nobody id=id')":        "no such column",
		"CALL locus.import('" + name + "', 'shard=s1')":                  "an import makes tables sharded or global",
		"CALL locus.import('" + d.Database + ".cart_0', 'owner=a id=b')": "is declared already",
	} {
		if _, err := dba.Exec(text); err == nil || !strings.Contains(err.Error(), want) {
			d.t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	var job, phase, percent, told string
	if err := dba.QueryRow("CALL locus.import(?, 'owner=owner id=id', 'carts grow')", name).Scan(&job, &phase, &percent, &told); err != nil || job != "import-1" {
		d.t.Fatalf("%s %s %s %s: %v", job, phase, percent, told, err)
	}
	d.must("wait", job, "--for", "ready")
	if out := d.must("jobs", job); !strings.Contains(out, "s0 → s1") {
		d.t.Errorf("locus jobs: %s", out)
	}
	exec(other, "UPDATE old_cart SET owner = owner WHERE owner = 1")
	for _, order := range []struct {
		call, phase string
		percent     float64
	}{
		{"CALL locus.cutover('import-1', 100)", "cut", 100},
		{"CALL locus.rollback('import-1')", "ready", 0},
		{"CALL locus.cutover('import-1', 100)", "cut", 100},
		{"CALL locus.finish('import-1')", "done", 100},
	} {
		exec(dba, order.call)
		d.until(order.phase, order.percent)
		for _, db := range []*sql.DB{one, other} {
			n, err := counted(d.t, db, "old_cart")
			if err != nil || n != 6 {
				d.t.Errorf("%s: %d rows, %v", order.call, n, err)
			}
		}
	}
	if on := rows("old_cart"); on[0]+on[1] != 6 || on[0] == 6 || on[1] == 6 {
		d.t.Errorf("old_cart has %v rows on the shards", on)
	}
	exec(other, "INSERT INTO old_cart (owner) VALUES (1)")
	if out := d.must("table", "show", name); !strings.Contains(out, "owner=owner id=id") {
		d.t.Errorf("locus table show: %s", out)
	}
}

// counted counts a table's rows. It repeats the query if the error asks for that: during the switch a proxy may pause
// statements for too long.
func counted(t *testing.T, db *sql.DB, table string) (n int, err error) {
	t.Helper()
	product.Eventually(t, "the rows of "+table+" are not held", func() bool {
		err = db.QueryRow("SELECT COUNT(*) FROM " + table).Scan(&n)
		held, is := errors.AsType[*mysql.MySQLError](err)
		return !is || held.Number != 1213
	})
	return n, err
}
