package plan

import (
	"strings"

	"locus/router/stmt"
)

// aggregate plans COUNT, SUM, MIN, MAX and AVG of all rows.
func (m *Merge) aggregate(b *stmt.Block, sc *scope, aggregated int) *Refusal {
	m.Kind = Aggregated
	if aggregated < len(b.Fields) {
		return refuse(ScatterShape, "aggregates beside plain columns over rows of several shards: %s", narrowIt)
	}
	if len(b.Order) > 0 {
		return refuse(ScatterShape, "ORDER BY with an aggregate over rows of several shards: leave it out, there is one row")
	}
	var names, hidden []string
	for _, f := range b.Fields {
		if reason := checkCombinable(b, sc, f); reason != nil {
			return reason
		}
		c := Combined{Function: f.Aggregate}
		if f.Aggregate == stmt.Avg {
			c.Sum, c.Count = len(hidden), len(hidden)+1
			column := qualified(f.Argument)
			hidden = append(hidden, "SUM("+column+")", "COUNT("+column+")")
		}
		m.Fields = append(m.Fields, c)
		names = append(names, aggregateNames[f.Aggregate])
	}
	m.describe = "one row of each shard combined by " + strings.Join(names, ", ")
	return m.hide(b, hidden)
}

var aggregateNames = map[stmt.Aggregate]string{
	stmt.Count: "COUNT", stmt.Sum: "SUM", stmt.Min: "MIN", stmt.Max: "MAX", stmt.Avg: "AVG",
}

func checkCombinable(b *stmt.Block, sc *scope, f stmt.Field) *Refusal {
	switch {
	case f.Aggregate == stmt.OtherAggregate:
		return refuse(ScatterShape, "an aggregate that can't be combined from several shards (COUNT, SUM, MIN, MAX and AVG by themselves can): %s", narrowIt)
	case f.Distinct && f.Aggregate != stmt.Min && f.Aggregate != stmt.Max:
		return refuse(ScatterShape, "DISTINCT within an aggregate over rows of several shards: %s", narrowIt)
	case f.Aggregate == stmt.Avg && f.Argument.Name == "":
		return refuse(ScatterShape, "AVG of an expression over rows of several shards: select SUM and COUNT of it")
	case f.Aggregate != stmt.Min && f.Aggregate != stmt.Max:
		return nil
	}
	if f.Argument.Name == "" {
		return nil // checked by the type of the answer
	}
	_, c := sc.column(b, f.Argument)
	switch {
	case c == nil:
		return refuse(ScatterShape, "MIN and MAX of %s over rows of several shards: no declared table has the column, or several have it", f.Argument.Name)
	case c.Charset != "" || !comparable(c.DataType):
		return refuse(ScatterShape, "MIN and MAX of %s, a %s column, over rows of several shards: ORDER BY %s LIMIT 1 does it", c.Name, c.DataType, c.Name)
	}
	return nil
}
