package demo

import (
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"

	"locus/cmd/dbserver"
)

// TestTablesAreDeclaredInSQL: when a statement that declares a table ends at one proxy, the other one knows the
// table, whatever user and syntax declared it.
func TestTablesAreDeclaredInSQL(t *testing.T) {
	dir := t.TempDir()
	d := start(t, dbserver.MariaDB, dir, "--orders-per-second", "0", "--proxies", "2")
	one, other := d.dbAt(0), d.dbAt(1)
	const columns = "(id BIGINT NOT NULL PRIMARY KEY, owner BIGINT NOT NULL, KEY (owner))"
	exec := func(db *sql.DB, query string) {
		t.Helper()
		if _, err := db.Exec(query); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	rows := func(table string) (on []int) {
		for i := range d.Shards {
			n := -1
			_ = d.shard(i).QueryRow("SELECT COUNT(*) FROM " + table).Scan(&n)
			on = append(on, n)
		}
		return on
	}
	for i := range 4 {
		table := fmt.Sprintf("cart_%d", i)
		exec(one, "CREATE TABLE "+table+" "+columns+" COMMENT 'locus: owner=owner id=id'")
		for owner := range 6 {
			exec(other, fmt.Sprintf("INSERT INTO %s (owner) VALUES (%d)", table, owner))
		}
		if on := rows(table); on[0]+on[1] != 6 || on[0] == 6 || on[1] == 6 {
			t.Errorf("%s has %v rows on the shards", table, on)
		}
	}

	// Two instances of an application begin at once, each with its migration.
	errs := make([]error, 6)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			db := []*sql.DB{one, other}[i%2]
			if _, errs[i] = db.Exec("CREATE TABLE IF NOT EXISTS wish " + columns + " COMMENT 'locus: owner=owner id=id'"); errs[i] == nil {
				_, errs[i] = db.Exec("INSERT INTO wish (owner) VALUES (?)", i)
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	n := 0
	if err := one.QueryRow("SELECT COUNT(*) FROM wish").Scan(&n); err != nil || n != 6 {
		t.Errorf("%d wishes, %v", n, err)
	}
	if out := d.must("table", "show", d.Database+".wish"); !strings.Contains(out, "COMMENT 'locus: owner=owner id=id'") {
		t.Errorf("locus table show: %s", out)
	}

	// A DBA declares a table that exists on the shards.
	dba := d.asDBA(dir).db
	table := d.Database + ".country"
	for i := range d.Shards {
		exec(d.shard(i), "CREATE TABLE country (code CHAR(2) NOT NULL PRIMARY KEY)")
	}
	var name, kind, words string
	if err := dba.QueryRow("CALL locus.table_add(?, 'global')", table).Scan(&name, &kind, &words); err != nil || name != table || kind+words != "globalglobal" {
		t.Errorf("%s %s %s, %v", name, kind, words, err)
	}
	exec(other, "INSERT INTO country VALUES ('no')")
	if on := rows("country"); on[0] != 1 || on[1] != 1 {
		t.Errorf("country has %v rows on the shards", on)
	}
	for text, want := range map[string]string{
		"CALL locus.table_add('" + table + "', 'owner=code id=code')":  "is declared already, as \"global\"",
		"CALL locus.table_add('" + table + "', 'owner=a owner=b')":     "owner is given twice",
		"CALL locus.table_add('" + table + "')":                        "got 1",
		"CALL locus.table_add('" + d.Database + ".nowhere', 'global')": "it doesn't exist on",
		"CALL locus.table_drop('" + d.Database + ".cart_0')":           "has rows of it",
		"CALL locus.table_drop('" + d.Database + ".nowhere')":          "is not declared",
		"CALL locus.table_drop('nowhere')":                             "write it as schema.table",
	} {
		if _, err := dba.Exec(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := one.Exec("CALL locus.table_drop('" + table + "')"); err == nil || !strings.Contains(err.Error(), "1370") {
		t.Errorf("an application takes declarations away: %v", err)
	}
	exec(one, "DELETE FROM country")
	exec(dba, "CALL locus.table_drop('"+table+"')")
	if out := d.must("table", "list"); strings.Contains(out, "country") {
		t.Errorf("locus table list: %s", out)
	}
	d.imports(one, other, dba, rows)
}
