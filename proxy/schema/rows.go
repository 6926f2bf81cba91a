package schema

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"locus/router/catalog"
	"locus/router/gene"
)

// rangesPerQuery bounds the length of one statement.
const rangesPerQuery = 200

// Row is one row of those that were looked for.
type Row struct {
	Column string
	Value  string // an SQL literal
	Gene   gene.Gene
}

func (r *Row) String() string { return fmt.Sprintf("%s = %s, gene %s", r.Column, r.Value, r.Gene) }

// Rows looks for a row of the genes in a sharded table on one shard: nil if
// there is none. It reads ranges of the ID, the parent's ID or the gene column,
// one row at most; without an index on that column it reads the table.
func Rows(ctx context.Context, q Querier, t *catalog.Table, genes gene.Set) (*Row, error) {
	key := geneKey(t)
	if key == nil {
		return nil, fmt.Errorf("look for rows of %s in table %s: it is %s, so its rows have no gene", genes, t.TableName, t.Kind)
	}
	conditions := conditionsOf(t, key, genes)
	for len(conditions) > 0 {
		some := conditions[:min(rangesPerQuery, len(conditions))]
		conditions = conditions[len(some):]
		row, err := oneOf(ctx, q, t, key, some)
		if row != nil || err != nil {
			return row, err
		}
	}
	return nil, nil
}

func oneOf(ctx context.Context, q Querier, t *catalog.Table, key *catalog.Key, conditions []string) (*Row, error) {
	column := quoteName(key.Column.Name)
	shown := column
	if key.Column.IsBinary() {
		shown = "CONCAT('0x', LOWER(HEX(" + column + ")))"
	}
	rows, err := q.Query(ctx, "SELECT "+shown+" FROM "+quoteName(t.Schema)+"."+quoteName(t.Name)+
		" WHERE "+strings.Join(conditions, " OR ")+" LIMIT 1")
	if err != nil {
		return nil, fmt.Errorf("look for rows in table %s: %w", t.TableName, err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	row := &Row{Column: key.Column.Name, Value: string(rows[0][0])}
	row.Gene, err = geneOf(t, key, row.Value)
	if err != nil {
		return nil, fmt.Errorf("look for rows in table %s: %w", t.TableName, err)
	}
	return row, nil
}

func geneOf(t *catalog.Table, key *catalog.Key, value string) (gene.Gene, error) {
	if key.Role == catalog.Gene {
		n, err := strconv.ParseUint(value, 10, 32)
		return gene.Gene(n), err
	}
	id, err := key.Layout.Parse(value)
	if err != nil {
		return 0, err
	}
	return key.Layout.Gene(id) & t.Width.Last(), nil
}

// conditionsOf says in SQL that a row is of the genes. A layout with more bits
// of gene than the cluster routes by has the genes as its low bits, so each
// range stands once for every value of the other bits.
func conditionsOf(t *catalog.Table, key *catalog.Key, genes gene.Set) []string {
	var conditions []string
	between := func(low, high []byte) {
		conditions = append(conditions, fmt.Sprintf("%s BETWEEN %s AND %s", quoteName(key.Column.Name), low, high))
	}
	for _, r := range genes.Ranges() {
		if key.Role == catalog.Gene {
			between(strconv.AppendUint(nil, uint64(r.First), 10), strconv.AppendUint(nil, uint64(r.Last), 10))
			continue
		}
		for _, wide := range widen(r, t.Width, key.Layout.GeneWidth()) {
			low, high := key.Layout.GeneRange(wide.First, wide.Last)
			spell := key.Layout.AppendSQL
			if !key.Column.Unsigned {
				spell = key.Layout.AppendSignedSQL
			}
			between(spell(nil, low), spell(nil, high))
		}
	}
	return conditions
}

// widen gives the ranges of wider genes whose low bits are in r. One that has
// genes on both sides of the middle is cut there: in a signed column of layout
// plain64 the upper half's IDs are negative.
func widen(r gene.Range, from, to gene.Width) []gene.Range {
	var ranges []gene.Range
	for high := gene.Gene(0); high <= to.Last()>>from; high++ {
		first, last := high<<from|r.First, high<<from|r.Last
		if middle := gene.Gene(1) << (to - 1); first < middle && last >= middle {
			ranges = append(ranges, gene.Range{First: first, Last: middle - 1})
			first = middle
		}
		ranges = append(ranges, gene.Range{First: first, Last: last})
	}
	return ranges
}

func quoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
