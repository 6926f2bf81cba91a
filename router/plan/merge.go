package plan

import (
	"fmt"
	"iter"
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// MergeKind is how the shards' answers are combined.
type MergeKind uint8

const (
	// Concat appends the rows of one shard to those of another.
	Concat MergeKind = iota
	// Ordered merges the shards' sorted streams.
	Ordered
	// Aggregated combines one row of each shard into one row.
	Aggregated
)

// Merge describes the additions to the text for several shards, and how their answers are combined. Added columns are the last
// ones, and are removed from the answer.
type Merge struct {
	Kind MergeKind
	// Hidden is the number of added columns. Columns are inserted before FROM, of each arm of a UNION ALL.
	Hidden  int
	Columns []Splice
	Keys    []SortKey  // Ordered
	Fields  []Combined // Aggregated: one for each field
	Limit   *stmt.Limit
	// DisjointGroups is true if each shard has groups of its own. This is the case as long as no gene is divided.
	DisjointGroups bool
	describe       string
}

// String describes how the answers are combined.
func (m *Merge) String() string {
	if m.Limit != nil {
		return m.describe + ", within LIMIT"
	}
	return m.describe
}

// SortKey is one item of ORDER BY as a column of the answer.
type SortKey struct {
	// Column is the index of the column, from 0. A negative index counts back from the last visible column, which is -1. If
	// Hidden is true, it is an index among the hidden columns.
	Column int
	Hidden bool
	Desc   bool
	// Weighted is true if the key is compared as bytes, whatever its character set: a byte string, or a sort key that the server computes.
	Weighted bool
	// Pad is the weight by which a shorter key is extended before it is compared with a longer one; nil: it is not extended.
	Pad []byte
	// Computed is true for a field that is not a column. Such keys have the order in which the shards' servers read rows.
	Computed bool
}

// Combined describes how one field of an aggregated answer is computed.
type Combined struct {
	Function stmt.Aggregate
	// Sum and Count are the hidden columns from which AVG is computed.
	Sum, Count int
}

// planMerge plans how a SELECT runs on several shards, or returns why it can't.
func planMerge(s *stmt.Statement, sc *scope) (*Merge, *Refusal) {
	if reason := checkScatterShape(s, sc); reason != nil {
		return nil, reason
	}
	b := s.Blocks[0]
	m := &Merge{Limit: b.Limit, DisjointGroups: b.Grouped}
	aggregated := 0
	for _, f := range b.Fields {
		if f.Aggregate != stmt.NoAggregate {
			aggregated++
		}
	}
	var reason *Refusal
	switch {
	case aggregated > 0 && !b.Grouped:
		reason = m.aggregate(b, sc, aggregated)
	case len(b.Order) > 0:
		reason = m.order(b, sc)
	default:
		m.describe = concatenated
	}
	if reason != nil {
		return nil, reason
	}
	return m, nil
}

const concatenated = "rows of one shard after those of another"

const narrowIt = "name one owner, ID or order number in WHERE"

// checkScatterShape refuses a statement that can't be answered shard by shard. It returns nil for others.
func checkScatterShape(s *stmt.Statement, sc *scope) *Refusal {
	b := s.Blocks[0]
	what := ""
	switch {
	case s.Features&stmt.Union != 0:
		what = "UNION, INTERSECT and EXCEPT"
	case s.Features&stmt.With != 0:
		what = "common table expressions"
	case s.Features&stmt.Windows != 0:
		what = "window functions"
	case len(s.Blocks) > 1:
		what = "subqueries and derived tables"
	case b.Distinct:
		what = "DISTINCT"
	case b.Grouped && !sc.groupsApart(b):
		what = "GROUP BY"
	case b.Having && !b.Grouped:
		what = "HAVING"
	case b.Natural || b.Using:
		what = "NATURAL JOIN and USING of several tables"
	case !sc.everyRowSharded():
		what = "an outer join that keeps the rows of tables which are not sharded"
	case b.Braced:
		what = "a SELECT in parentheses"
	case b.Limit != nil && !b.Limit.Divides():
		what = "such a LIMIT"
	case s.Examined:
		what = rowsExamined
	case s.Features&stmt.SetsInsertID != 0:
		what = "LAST_INSERT_ID(value)"
	case s.Features&stmt.OneServer != 0:
		what = "RAND(seed), UUID_SHORT() or a variable of one server"
	case s.Features&stmt.Scored != 0:
		what = relevance
	case s.Features&stmt.UnknownFunction != 0:
		what = "a function that is not known to look at one row only"
	}
	if what == "" {
		return nil
	}
	return refuse(ScatterShape, "%s over rows of several shards: %s", what, narrowIt)
}

// rowsExamined names a bound that each shard would apply by itself.
const rowsExamined = "LIMIT ROWS EXAMINED"

// relevance names a value that each shard would compute from its own rows.
const relevance = "the relevance of MATCH … AGAINST (a condition IN BOOLEAN MODE needs none)"

// groupsApart reports whether all rows of a group have one gene, so that each shard has groups of its own. This is the case if
// the rows are grouped by a key of a table for which no outer join supplies NULLs.
func (sc *scope) groupsApart(b *stmt.Block) bool {
	for n := range sc.groupKeys(b) {
		if n.sharded() && !n.ref.Nullable {
			return true
		}
	}
	return false
}

// groupKeys yields the keys among the columns that a block's rows are grouped by, each with its table.
func (sc *scope) groupKeys(b *stmt.Block) iter.Seq2[*node, *catalog.Key] {
	return func(yield func(*node, *catalog.Key) bool) {
		for i := range b.Groups {
			ref := &b.Groups[i]
			if at := fieldNamed(b, ref); at == severalFields || at >= 0 && (b.Fields[at].Column == nil || !strings.EqualFold(b.Fields[at].Column.Name, ref.Name)) {
				continue // the name may be an alias
			}
			if n, key := sc.resolve(b, *ref); key != nil && !yield(n, key) {
				return
			}
		}
	}
}

// everyRowSharded reports whether every row of the answer contains a row of a sharded table, and so comes from one shard. Otherwise an outer
// join would return the other rows once on each shard.
func (sc *scope) everyRowSharded() bool {
	for i := range sc.nodes {
		if n := &sc.nodes[i]; n.sharded() && !n.ref.Nullable {
			return true
		}
	}
	return false
}

// order makes every item of ORDER BY a column of the answer.
func (m *Merge) order(b *stmt.Block, sc *scope) *Refusal {
	m.Kind = Ordered
	var hidden, names []string
	for _, item := range b.Order {
		if item.Constant {
			continue
		}
		key, text, reason := sortKey(b, sc, item)
		if reason != nil {
			return reason
		}
		if text != "" {
			key.Column, key.Hidden = len(hidden), true
			hidden = append(hidden, text)
		}
		m.Keys = append(m.Keys, key)
		names = append(names, nameOf(item))
	}
	if len(m.Keys) == 0 {
		m.Kind, m.describe = Concat, concatenated
		return nil
	}
	m.describe = "sorted streams merged by " + strings.Join(names, ", ")
	return m.hide(b, hidden)
}

// nameOf returns a description of an item of ORDER BY.
func nameOf(item stmt.OrderItem) string {
	name := fmt.Sprint(item.Position.Const.Int)
	if item.Column != nil {
		name = item.Column.Name
	}
	if item.Desc {
		name += " DESC"
	}
	return name
}

func (m *Merge) hide(b *stmt.Block, hidden []string) *Refusal {
	if len(hidden) > 0 && !b.HasFrom {
		return refuse(ScatterShape, "columns to merge by can't be added to this text: write SELECT … FROM …, or %s", narrowIt)
	}
	m.Hidden = len(hidden)
	for i := range hidden {
		// The name is unique, so that the shards' ORDER BY doesn't refer to it.
		hidden[i] += fmt.Sprintf(" AS `locus_hidden_%d`", i)
	}
	if len(hidden) > 0 {
		m.Columns = []Splice{{b.From, ", " + strings.Join(hidden, ", ") + " "}}
	}
	return nil
}
