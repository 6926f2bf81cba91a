package plan

import (
	"slices"
	"strconv"
	"strings"

	"locus/idgen/gene"
	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// Finding describes how the shards of a change are found if its WHERE fixes a key of its only table that doesn't determine the
// gene. Such a key is a unique key of integers, or a column that the cluster numbers. A locking read on each shard checks whether
// the shard has a row.
type Finding struct {
	table  *catalog.Table
	alias  string
	fixed  []fixed
	owners *Owned
}

// fixed is a column and the values that it is compared with.
type fixed struct {
	column   string
	operands []stmt.Operand
}

// Moved is the result of the locking read if a row would get another gene.
const Moved = "2"

// maxFound limits the number of values in a locking read.
const maxFound = 1000

// finding returns the Finding of a statement. It returns nil if the conditions fix no such key, or if the statement returns more
// than the number of rows.
func (sc *scope) finding(s *stmt.Statement, k *Keyed) *Finding {
	const kept = stmt.Returning | stmt.SetsUserVariable | stmt.SetsInsertID | stmt.NamedLock | stmt.ReadsNamedLock | stmt.UnknownFunction | stmt.With
	if len(sc.nodes) != 1 || len(s.Blocks) != 1 || !sc.nodes[0].sharded() || s.Features&kept != 0 {
		return nil
	}
	n := &sc.nodes[0]
	f := &Finding{table: n.table, alias: n.ref.Alias, owners: k.Owned}
	found := map[int]fixed{}
	sc.collectFixed(n, s.Blocks[0].Where, found)
	for _, columns := range n.table.Findable() {
		if slices.ContainsFunc(columns, func(c int) bool { return found[c].operands == nil }) {
			continue
		}
		for _, c := range columns {
			f.fixed = append(f.fixed, found[c])
		}
		return f
	}
	return nil
}

func (f *Finding) String() string {
	names := make([]string, len(f.fixed))
	for i, c := range f.fixed {
		names[i] = c.column
	}
	return strings.Join(names, ", ")
}

// collectFixed adds to found the integer columns that must have one of some values, by their positions.
func (sc *scope) collectFixed(n *node, c *stmt.Condition, found map[int]fixed) {
	sc.eachEqual(n, c, func(at int, operands []stmt.Operand) {
		if n.table.Columns[at].IsInteger() {
			found[at] = fixed{n.table.Columns[at].Name, operands}
		}
	})
}

// eachEqual calls f for each column of a table that a condition requires to have one of some known values. The column is given by its position.
func (sc *scope) eachEqual(n *node, c *stmt.Condition, f func(column int, operands []stmt.Operand)) {
	switch {
	case c == nil:
	case c.Kind == stmt.And:
		for _, arg := range c.Args {
			sc.eachEqual(n, arg, f)
		}
	case c.Kind == stmt.Equal && !c.NullSafe && !c.InRows:
		of, unknown := sc.within(n.block, c.Column)
		if of != n || unknown || slices.ContainsFunc(c.Operands, func(o stmt.Operand) bool { return !o.Known() }) {
			return
		}
		if at, is := n.table.Column(c.Column.Name); is {
			f(at, c.Operands)
		}
	}
}

// lockingRead returns the locking read for a shard, which leaves out foreign rows. If given is not nil, it is the gene that the change
// assigns. The result is then Moved if one of the rows has another gene. ok is false if a server might not compare one of the
// values with the column as an integer.
func (f *Finding) lockingRead(v *Values, foreign router.Foreign, given *gene.Gene) (text string, ok bool) {
	found, last := "1", " LIMIT 1 FOR UPDATE"
	if given != nil {
		found = "IF(" + f.table.NoneOf(f.alias, router.Foreign{Genes: gene.NewSet(gene.Range{First: *given, Last: *given})}) + ", " + Moved + ", 1)"
		last = " ORDER BY 1 DESC" + last
	}
	text = "SELECT " + found + " FROM " + quote(f.table.Schema) + "." + quote(f.table.Name) + " AS " + quote(f.alias) + " WHERE "
	for i, c := range f.fixed {
		values, ok := c.values(v)
		if !ok {
			return "", false
		}
		if i > 0 {
			text += " AND "
		}
		text += quote(f.alias) + "." + quote(c.column) + " IN (" + strings.Join(values, ", ") + ")"
	}
	if !foreign.Empty() {
		text += " AND " + f.owners.Without(foreign)
	}
	return text + last, true
}

// values returns the values that a column is compared with, as SQL. Servers may compare a value that is not an integer literal,
// and all values in one list with it, as floating-point numbers. ok is then false if a value is beyond the integers that these
// represent exactly.
func (c fixed) values(v *Values) (list []string, ok bool) {
	far, blurred := false, false
	for _, o := range c.operands {
		first, count := int32(0), int32(1)
		several := o.Slot >= 0 && !o.Negative
		if several {
			first, count = v.Slots[o.Slot].First, v.Slots[o.Slot].Count
		}
		for i := first; i < first+count; i++ {
			value := stmt.Value{}
			if several {
				value = v.Value(i)
			} else {
				value = v.operand(&o)
			}
			n, whole := value.Integer()
			switch {
			case value.Kind == stmt.Null:
				list = append(list, "NULL")
			case !whole || len(list) == maxFound:
				return nil, false
			case n.Kind == stmt.Int:
				list = append(list, strconv.FormatInt(n.Int, 10))
				far = far || n.Int < -stmt.ExactDouble || n.Int > stmt.ExactDouble
			default:
				list = append(list, strconv.FormatUint(n.Bits(), 10))
				far = far || n.Bits() > stmt.ExactDouble
			}
			blurred = blurred || value.Kind != stmt.Int && value.Kind != stmt.Uint && value.Kind != stmt.Null
		}
	}
	return list, !far || !blurred
}
