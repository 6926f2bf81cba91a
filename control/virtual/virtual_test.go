package virtual

import (
	"maps"
	"slices"
	"testing"

	"locus/router/stmt"
)

// Statements treat exactly the tables of this package as tables of the schema locus.
func TestTablesAreThoseOfStatements(t *testing.T) {
	var names []string
	for _, one := range tables {
		names = append(names, one.name)
	}
	slices.Sort(names)
	if want := slices.Sorted(maps.Keys(stmt.OwnTables)); !slices.Equal(names, want) {
		t.Errorf("schema locus has the tables %v, and statements are read for %v", names, want)
	}
}

// A column is named without quotes, on either server.
func TestColumnsAreNoReservedWords(t *testing.T) {
	for _, one := range tables {
		for _, c := range one.columns {
			var l stmt.Lexed
			l.Lex([]byte("SELECT "+c.Name+" FROM locus."+one.name), 0)
			if _, err := stmt.Parse(&l); err != nil {
				t.Errorf("locus.%s: column %s: %v", one.name, c.Name, err)
			}
		}
	}
}
