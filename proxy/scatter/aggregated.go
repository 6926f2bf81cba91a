package scatter

import (
	"bytes"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/router/plan"
	"locus/router/stmt"
)

// aggregated combines one row of each shard into one row. It reads all answers to their end before it sends anything.
func (g *merger) aggregated(limit plan.Window) error {
	if len(g.plan.Fields) != g.visible {
		return refuse("%d aggregates in %d columns of several shards' answers", len(g.plan.Fields), g.visible)
	}
	rows := 0
	for i := range g.answers {
		n, err := g.onlyRow(&g.answers[i])
		if err != nil {
			return err
		}
		rows += n
	}
	none := rows == 0 && limit.Set // LIMIT 0
	if rows != len(g.answers) && !none {
		return refuse("%d of %d shards gave a row for an aggregate", rows, len(g.answers))
	}
	if none || limit.Set && (limit.Count == 0 || limit.Offset > 0) {
		return nil
	}
	values := make([][]byte, g.visible)
	for i := range values {
		v, err := g.combine(i)
		if err != nil {
			return err
		}
		values[i] = v
	}
	if g.format == Binary {
		return g.out.binaryRow(values, g.types)
	}
	return g.out.textRow(values)
}

// onlyRow keeps the row of an answer that has at most one row.
func (g *merger) onlyRow(a *answer) (int, error) {
	if a.ended {
		return 0, nil
	}
	row := bytes.Clone(a.row)
	if err := a.next(); err != nil {
		return 0, err
	}
	if !a.ended {
		return 0, refuse("shard %s gave several rows for an aggregate", a.from.Shard())
	}
	a.row = row
	return 1, a.split(g.format, g.types, g.visible)
}

// combine computes one field from all shards' rows.
func (g *merger) combine(field int) ([]byte, error) {
	f, c := g.plan.Fields[field], g.columns[field]
	switch f.Function {
	case stmt.Count:
		return g.count(field)
	case stmt.Sum:
		return g.sum(field)
	case stmt.Min, stmt.Max:
		return g.extreme(field, f.Function == stmt.Max)
	case stmt.Avg:
		return g.average(c, f)
	case stmt.NoAggregate, stmt.OtherAggregate:
	}
	return nil, refuse("column %d of several shards' answers is no aggregate that can be combined", field+1)
}

// extreme returns the smallest or largest value that is not NULL.
func (g *merger) extreme(field int, largest bool) ([]byte, error) {
	kind, ok := g.kindOf(field, false)
	if !ok {
		return nil, refuse("MIN or MAX of text over rows of several shards: ORDER BY the column with LIMIT 1 does it")
	}
	var best []byte
	var bestKey key
	for i := range g.answers {
		a := &g.answers[i]
		v := a.values[field]
		k, err := kind.read(v)
		if err != nil {
			return nil, a.fail(err)
		}
		if k.null {
			continue
		}
		if c := kind.compare(k, bestKey); best == nil || (largest && c > 0) || (!largest && c < 0) {
			best, bestKey = v, k
		}
	}
	return best, nil
}

// hiddenColumn returns the position of a hidden column.
func (g *merger) hiddenColumn(i int) (int, bool) {
	at, ok := g.keyColumn(plan.SortKey{Column: i, Hidden: true})
	return at, ok
}

func isDecimal(c column) bool {
	return c.typ == mysql.MYSQL_TYPE_NEWDECIMAL || c.typ == mysql.MYSQL_TYPE_DECIMAL
}
