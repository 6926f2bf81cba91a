package schema

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"locus/idgen/gene"
	"locus/router/catalog"
)

// rangesPerQuery limits the length of one statement.
const rangesPerQuery = 200

// Row is a row that was found.
type Row struct {
	Column string
	Value  string // an SQL literal
	Gene   gene.Gene
}

func (r *Row) String() string { return fmt.Sprintf("%s = %s, gene %s", r.Column, r.Value, r.Gene) }

// Rows returns a row with one of the genes in a sharded table on one shard, or nil if there is none. It reads ranges of the ID, the parent's
// ID or the gene column, and one row at most. Without an index on that column it reads the whole table.
func Rows(ctx context.Context, q Querier, t *catalog.Table, genes gene.Set) (*Row, error) {
	key := geneKey(t)
	if key == nil {
		return nil, fmt.Errorf("look for rows of %s in table %s: it is %s, so its rows have no gene", genes, t.TableName, t.Kind)
	}
	conditions := conditionsOf(key, genes)
	for len(conditions) > 0 {
		some := conditions[:min(rangesPerQuery, len(conditions))]
		conditions = conditions[len(some):]
		row, err := findRow(ctx, q, t, key, some)
		if row != nil || err != nil {
			return row, err
		}
	}
	return nil, nil
}

func findRow(ctx context.Context, q Querier, t *catalog.Table, key *catalog.Key, conditions []string) (*Row, error) {
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
	if key.Column.IsBinary() {
		raw, err := hex.DecodeString(strings.TrimPrefix(value, "0x"))
		if err != nil {
			return 0, err
		}
		return key.GeneOfBytes(raw)
	}
	id, err := key.Layout.Parse(value)
	if err != nil {
		return 0, err
	}
	return key.Layout.Gene(id) & t.Width.Last(), nil
}

// conditionsOf returns the SQL conditions that a row has one of the genes, one for each range.
func conditionsOf(key *catalog.Key, genes gene.Set) []string {
	var conditions []string
	for _, span := range key.Spans(genes) {
		conditions = append(conditions, span.Condition(quoteName(key.Column.Name)))
	}
	return conditions
}

func quoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
