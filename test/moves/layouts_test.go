package moves

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/migrate/applier"
	"locus/migrate/copier"
	"locus/migrate/table"
	"locus/router/catalog"
)

// Whatever the layout of its IDs, exactly the rows of the moving genes are moved by the copy and by the stream, and
// the comparison finds them equal. Genes are in many ranges, on both sides of the middle of a signed column. IDs end
// in zero bytes, which the log omits.
func TestLayouts(t *testing.T) {
	every := func(step gene.Gene) gene.Set {
		var ranges []gene.Range
		for g := gene.Gene(0); g <= gene.W16.Last()-step; g += step {
			ranges = append(ranges, gene.Range{First: g, Last: g + step/2})
		}
		return gene.NewSet(ranges...)
	}
	for _, c := range []struct {
		layout, typ string
		genes       gene.Set
	}{
		{"int64", "BIGINT", every(199)},
		{"int64", "BIGINT UNSIGNED", every(9999)},
		{"plain64", "BIGINT", every(199)},
		{"plain64", "BIGINT UNSIGNED", every(9999)},
		{"js53", "BIGINT", every(9999)},
		{"bytes16", "BINARY(16)", every(9999)},
		{"int64+bytes16", "VARBINARY(16)", every(9999)},
	} {
		t.Run(c.layout+" "+c.typ, func(t *testing.T) {
			eachPair(t, func(t *testing.T, p *pair) { p.layout(c.layout, c.typ, c.genes) })
		})
	}
}

func (p *pair) layout(name, typ string, genes gene.Set) {
	p.both("CREATE TABLE laid (id "+typ+" PRIMARY KEY, owner BIGINT NOT NULL, v INT)", "CREATE TABLE line (id "+typ+" NOT NULL, n INT NOT NULL, v INT, PRIMARY KEY (n, id))")
	column := &catalog.IDColumn{Column: "id"}
	column.Layout, column.Overflow, _ = strings.Cut(name, "+")
	named := func(name string) orderid.Layout {
		l, err := orderid.ByName(name)
		if err != nil {
			p.t.Fatal(err)
		}
		return l
	}
	layout := named(column.Layout)
	id := func(owner int64, sequence uint64) string {
		layout := layout
		if column.Overflow != "" && (owner+int64(sequence))%2 == 0 { // both lengths, side by side
			layout = named(column.Overflow)
		}
		i, err := layout.Compose(gene.OfInt(owner, layout.GeneWidth()), 0, orderid.Seq(sequence<<8))
		if err != nil {
			p.t.Fatal(err)
		}
		switch {
		case typ == "BIGINT":
			return string(layout.AppendSignedSQL(nil, i))
		case strings.Contains(typ, "BINARY"):
			return string(layout.AppendHexSQL(nil, i))
		}
		return string(layout.AppendSQL(nil, i))
	}
	rows := func(sequence uint64) (statements []string) {
		for o := range int64(200) {
			statements = append(statements, fmt.Sprintf("INSERT INTO laid VALUES (%s, %d, 1)", id(o, sequence), o), fmt.Sprintf("INSERT INTO line VALUES (%s, %d, 1)", id(o, sequence), o%5))
		}
		return statements
	}
	tables := p.read(map[string]catalog.Declaration{
		"laid": {Kind: catalog.Sharded, Owner: "owner", ID: column},
		"line": {Kind: catalog.Sharded, Parent: column}, // another column is the first of its primary key
	})
	parts := table.Split(genes, 3)
	p.on(p.source, slices.Concat([]string{"BEGIN"}, rows(1), rows(2), []string{"COMMIT"})...)
	s := p.stream(applier.Config{Parts: parts}, tables)
	p.copy(s, copier.Config{ChunkBytes: 2000}, tables)
	p.on(p.source, append(rows(3), "UPDATE laid SET v = 2 WHERE owner < 150", "DELETE FROM laid WHERE owner < 50", "UPDATE line SET v = 3", "DELETE FROM line WHERE n = 2")...)
	p.settle(s)
	for _, t := range tables {
		n := p.same(t, t.Condition(genes))
		all, at := len(p.rows(p.source, t, "")), len(p.rows(p.target, t, ""))
		if n == 0 || n == all || at != n {
			p.t.Errorf("%s: %d rows, of which %d are of the genes; the target has %d", t.Name, all, n, at)
		}
	}
	if r := p.verify(s, tables, parts, 7); !r.Equal() {
		p.t.Errorf("compared: %v, %d unsettled", r.Differences, r.Unsettled)
	}
	if c := p.conflicts(p.target); len(c) > 0 {
		p.t.Errorf("conflicts: %+v", c[0])
	}
}
