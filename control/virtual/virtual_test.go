package virtual

import (
	"maps"
	"slices"
	"testing"

	"locus/router/stmt"
)

// A table that is here is one that statements are known to mean.
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
