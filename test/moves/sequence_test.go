package moves

import (
	"fmt"
	"strings"
	"testing"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/migrate/applier"
	"locus/migrate/checkpoint"
	"locus/migrate/checksum"
	"locus/migrate/copier"
	"locus/migrate/preflight"
	"locus/migrate/table"
	"locus/router"
	"locus/router/catalog"
)

// dividable are an order and its items. The items are on the shard of their order, whatever their own IDs.
func (p *pair) dividable() []*table.Table {
	p.both("CREATE TABLE wholes (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, n INT NOT NULL)",
		"CREATE TABLE pieces (id BIGINT PRIMARY KEY, whole_id BIGINT NOT NULL, n INT NOT NULL)")
	return p.read(map[string]catalog.Declaration{"wholes": byID, "pieces": piece})
}

var piece = catalog.Declaration{
	Kind: catalog.Sharded, Parent: &catalog.IDColumn{Column: "whole_id", Layout: "int64"}, ID: &catalog.IDColumn{Column: "id", Layout: "int64"},
}

// TestAPartIsCompared: the rows of each side of a divided gene are compared separately, and both sides together are
// all rows.
func TestAPartIsCompared(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		const rows = 200
		tables := p.dividable()
		var wholes, pieces []string
		for n := range uint64(rows) {
			wholes = append(wholes, fmt.Sprintf("(%s, 1, %d)", idOf(1, n), n))
			pieces = append(pieces, fmt.Sprintf("(%s, %s, %d)", idOf(1, rows-n), idOf(1, n), n))
		}
		p.on(p.source, "INSERT INTO wholes VALUES "+strings.Join(wholes, ", "), "INSERT INTO pieces VALUES "+strings.Join(pieces, ", "))
		parts := table.Split(genesOf(1), 1)
		s := p.stream(applier.Config{Parts: parts}, tables)
		p.copy(s, copier.Config{}, tables)
		p.settle(s)
		p.on(p.target, "UPDATE wholes SET n = -1 WHERE id = "+idOf(1, 110), "DELETE FROM pieces WHERE whole_id = "+idOf(1, 60))
		compared := int64(0)
		for _, part := range []struct {
			first, end orderid.Residue
			want       string
		}{{0, 10, ""}, {10, 35, "wholes differs"}, {35, 60, ""}, {60, 100, "pieces missing"}} {
			name := fmt.Sprintf("%s/%d", p.job, part.first)
			v := checksum.New(checksum.Config{
				Job: name, Source: at(p.source), Target: at(p.target), Tables: tables, Parts: parts,
				Rows: router.Part{Genes: genesOf(1), First: part.first, End: part.end}, PieceRows: 7,
			}, s)
			if err := checkpoint.Restart(t.Context(), p.dial(p.target), name, checkpoint.Verify); err != nil {
				t.Fatal(err)
			}
			found, err := v.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range found.Differences {
				got = append(got, d.Table.Name.Name+" "+string(d.Kind))
			}
			if strings.Join(got, ", ") != part.want {
				t.Errorf("of residues %d to %d: %v, want %q", part.first, part.end-1, found.Differences, part.want)
			}
			compared += v.Progress().Rows
		}
		if compared != 2*rows {
			t.Errorf("%d rows are compared, of %d", compared, 2*rows)
		}
	})
}

// TestTouchedRowsHaveTheirResidues: a touched row has the residue of its side's key, which is the parent's ID if
// there is one.
func TestTouchedRowsHaveTheirResidues(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		tables := p.dividable()
		s := p.stream(applier.Config{Parts: table.Split(genesOf(1), 1), BySequence: true}, tables)
		p.settle(s)
		p.on(p.source, "INSERT INTO wholes VALUES ("+idOf(1, 123)+", 1, 0)", "INSERT INTO pieces VALUES ("+idOf(1, 7)+", "+idOf(1, 123)+", 0)")
		p.settle(s)
		rows, whole := s.TakeTouched()
		for _, of := range tables {
			if some := rows[of]; !whole || len(some) != 1 || some[0].Residue != 23 || some[0].Gene != geneOf(1) {
				t.Errorf("%s: %+v", of.Name, some)
			}
		}
	})
}

// TestPreflightBySequence checks that tables that can't be divided are refused and named.
func TestPreflightBySequence(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		p.dividable()
		p.both("CREATE TABLE keyless (name VARCHAR(20) PRIMARY KEY, owner BIGINT NOT NULL, gene SMALLINT UNSIGNED NOT NULL)",
			"CREATE TABLE mailed (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, mail VARCHAR(20) NOT NULL UNIQUE, UNIQUE KEY ours (owner, id))")
		look := func(declared map[string]catalog.Declaration) string {
			tables := map[catalog.TableName]catalog.Declaration{}
			for name, d := range declared {
				tables[p.name(name)] = d
			}
			r, err := preflight.Look(t.Context(), preflight.Config{
				Source: at(p.source), Target: at(p.target), Tables: tables, Width: gene.W16, Genes: genesOf(1), BySequence: true,
			})
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for _, problem := range r.Problems {
				found = append(found, problem.String())
			}
			return strings.Join(found, "\n")
		}
		if found := look(map[string]catalog.Declaration{"wholes": byID, "pieces": piece}); found != "" {
			t.Errorf("found:\n%s", found)
		}
		found := look(map[string]catalog.Declaration{"keyless": {Kind: catalog.Sharded, Owner: "owner", Gene: "gene"}, "mailed": byID})
		for _, want := range []string{
			"sequences: the rows of table " + p.database + ".keyless have no sequences",
			"sequences: unique key mail of table " + p.database + ".mailed does not contain id",
		} {
			if !strings.Contains(found, want) {
				t.Errorf("nothing says %q in\n%s", want, found)
			}
		}
		if strings.Contains(found, "ours") || strings.Contains(found, "PRIMARY") {
			t.Errorf("keys with the ID are refused:\n%s", found)
		}
	})
}
