package moves

import (
	"fmt"
	"strings"
	"testing"

	"locus/migrate/applier"
	"locus/migrate/copier"
	"locus/router/catalog"
)

// copies is large enough that the rows of a kind need several prepared statements, with some rows left over.
const copies = 130

// Rows by the hundred are written by prepared statements; TestTypes writes few rows, without them.
func TestTypesByTheHundred(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		kinds := short(matrix(p.engine))
		declared := map[string]catalog.Declaration{}
		for i, k := range kinds {
			name := fmt.Sprintf("t%d", i)
			declared[name] = byID
			p.both("SET SESSION sql_mode = ''", "CREATE TABLE "+name+" (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, v "+k.sql+")")
		}
		p.fill(kinds, 1)
		statements := []string{lax, "CREATE TABLE numbers (n INT PRIMARY KEY)"}
		for n := range copies {
			statements = append(statements, fmt.Sprintf("INSERT INTO numbers VALUES (%d)", n+1))
		}
		for i := range kinds {
			statements = append(statements, fmt.Sprintf("INSERT INTO t%d SELECT id + 100 * n, owner, v FROM t%d, numbers", i, i))
		}
		p.on(p.source, statements...)
		tables := p.read(declared)
		s := p.stream(applier.Config{Parts: all(1)}, tables)
		p.copy(s, copier.Config{}, tables)
		p.settle(s)
		for _, table := range tables {
			bound := table.BoundRows()
			if n := p.same(table, ""); n < 2*copies || n%max(bound, 1) == 0 && bound > 0 {
				t.Errorf("%d rows of %s, and %d are written at once: some should be left", n, table.Name, bound)
			}
			if json := table.Columns[2].DataType == "json"; (bound == 0) != json {
				t.Errorf("%s: %d rows are written by one prepared statement", table.Name, bound)
			}
		}
		if c := p.conflicts(p.target); len(c) > 0 {
			t.Errorf("conflicts: %v", c)
		}
	})
}

// short omits the kinds with long values: a hundred such rows don't fit into one statement.
func short(kinds []kind) []kind {
	var rest []kind
	for _, k := range kinds {
		if !strings.Contains(strings.Join(k.values, ""), "REPEAT") {
			rest = append(rest, k)
		}
	}
	return rest
}
