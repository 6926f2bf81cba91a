package plan

import (
	"testing"

	"locus/router/stmt"
)

// ROLLUP over the shards' groups is planned only if no expression uses the groups' columns. These may be NULL, and servers assume
// that a NOT NULL column is never NULL.
func TestRollupOfComputedColumns(t *testing.T) {
	for text, groups := range map[string]bool{
		"SELECT status, amount, COUNT(*) FROM orders GROUP BY status, amount WITH ROLLUP":                       true,
		"SELECT status, COUNT(*) AS n FROM orders GROUP BY status HAVING status > 1":                            true,
		"SELECT status, amount, COUNT(*) FROM orders GROUP BY status, amount WITH ROLLUP HAVING amount IS NULL": false,
		"SELECT status, amount IS NULL, COUNT(*) FROM orders GROUP BY status, amount WITH ROLLUP":               false,
		"SELECT status, COUNT(*) FROM orders GROUP BY status WITH ROLLUP HAVING status = 1":                     false,
		"SELECT status, IFNULL(status, 'all'), COUNT(DISTINCT amount) FROM orders GROUP BY status WITH ROLLUP":  false,
	} {
		var l stmt.Lexed
		l.Lex([]byte(text), 0)
		p, err := Make(&l, Context{Catalog: shopCatalog(t), Schema: "shop"})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		read, is := p.(*Read)
		if !is || read.Gather == nil {
			t.Errorf("%s: %T, %+v", text, p, read)
			continue
		}
		if got := read.Gather.Partial != nil; got != groups {
			t.Errorf("%s: groups are gathered: %v", text, got)
		}
	}
}
