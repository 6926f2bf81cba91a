package moves

import (
	"context"
	"testing"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/migrate/applier"
	"locus/migrate/changes"
	"locus/router/catalog"
)

func geneOf(owner int64) gene.Gene { return gene.OfInt(owner, gene.W16) }

func genesOf(owners ...int64) gene.Set {
	var ranges []gene.Range
	for _, o := range owners {
		ranges = append(ranges, gene.Range{First: geneOf(o), Last: geneOf(o)})
	}
	return gene.NewSet(ranges...)
}

// A write without a proxy is applied if no client has changed its row since, and recorded as a conflict otherwise. A
// write to genes that the source does not own is dropped, if the judge decides so.
func TestStrays(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		tables := p.tables()
		p.both("INSERT INTO items VALUES (" + idOf(1, 1) + ", 1, 'a', 1), (" + idOf(1, 1) + ", 2, 'b', 1), (" + idOf(2, 1) + ", 1, 'a', 1)")
		asked := 0
		s := p.stream(applier.Config{Parts: all(2), Judge: func(at changes.Position) (applier.Verdicts, error) {
			asked++
			if _, err := at.Transaction(); err != nil {
				t.Error(err)
			}
			return func(_ context.Context, g gene.Gene, _ orderid.Residue) (applier.Verdict, error) {
				if g == geneOf(2) {
					return applier.Drop, nil
				}
				return applier.IfUnchanged, nil
			}, nil
		}}, tables)
		p.settle(s)
		p.on(p.target, "UPDATE items SET amount = 7 WHERE line = 2")
		p.on(p.source,
			"UPDATE items SET amount = 5",
			"INSERT INTO items VALUES ("+idOf(1, 1)+", 3, 'c', 3)",
			"DELETE FROM items WHERE order_id = "+idOf(2, 1))
		p.settle(s)
		p.wantRows(p.target, "SELECT GROUP_CONCAT(line, ':', amount ORDER BY order_id, line) FROM items WHERE order_id <> "+idOf(2, 1), "1:5.00,2:7.00,3:3.00")
		p.wantRows(p.target, "SELECT amount FROM items WHERE order_id = "+idOf(2, 1), "1.00")
		if c := p.conflicts(p.target); len(c) != 1 || len(c[0].Standing) == 0 {
			t.Errorf("conflicts: %+v", c)
		}
		if asked == 0 {
			t.Error("the verdict was never asked for")
		}
	})
}

// Columns that the server computes don't show whether a client changed a row since; a log may omit them.
func TestStraysBesideComputedColumns(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		p.both("CREATE TABLE computed (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, n INT NOT NULL, s VARCHAR(30) AS (CONCAT(owner, '-', n)) STORED, v VARCHAR(30) AS (CONCAT(n, '!')) VIRTUAL)",
			"INSERT INTO computed (id, owner, n) VALUES ("+idOf(1, 1)+", 1, 1), ("+idOf(1, 2)+", 1, 1)")
		s := p.stream(applier.Config{Parts: all(2), Judge: strays}, p.read(map[string]catalog.Declaration{"computed": byID}))
		p.settle(s)
		p.on(p.target, "UPDATE computed SET n = 7 WHERE id = "+idOf(1, 2))
		p.on(p.source, "UPDATE computed SET n = n + 4", "UPDATE computed SET n = n + 1 WHERE id = "+idOf(1, 1))
		p.settle(s)
		p.wantRows(p.target, "SELECT GROUP_CONCAT(n, ':', s, ':', v ORDER BY id) FROM computed", "6:1-6:6!,7:1-7:7!")
		if c := p.conflicts(p.target); len(c) != 1 {
			t.Errorf("conflicts: %+v", c)
		}
	})
}

// strays judges every change as a write without a proxy.
func strays(changes.Position) (applier.Verdicts, error) {
	return func(context.Context, gene.Gene, orderid.Residue) (applier.Verdict, error) {
		return applier.IfUnchanged, nil
	}, nil
}
