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

// Finding is how the shards of a change are found whose WHERE fixes a key of its one table that tells no gene: a unique key of
// whole numbers, or what the cluster numbers. A locking read on each shard looks whether it has a row.
type Finding struct {
	table  *catalog.Table
	alias  string
	fixed  []fixed
	owners *Owned
}

// fixed is a column and what it is compared with.
type fixed struct {
	column   string
	operands []stmt.Operand
}

// Moved is the answer of a look where a row would get another gene.
const Moved = "2"

// mostFound bounds the values that are looked for.
const mostFound = 1000

// finding reads it from the conditions; nil: they fix no such key, or the answer would not be one of rows that are changed.
func (sc *scope) finding(s *stmt.Statement, k *Keyed) *Finding {
	const kept = stmt.Returning | stmt.SetsUserVariable | stmt.SetsInsertID | stmt.NamedLock | stmt.ReadsNamedLock | stmt.UnknownFunction | stmt.With
	if len(sc.nodes) != 1 || len(s.Blocks) != 1 || !sc.nodes[0].sharded() || s.Features&kept != 0 {
		return nil
	}
	n := &sc.nodes[0]
	f := &Finding{table: n.table, alias: n.ref.Alias, owners: k.Owned}
	found := map[int]fixed{}
	sc.fixes(n, s.Blocks[0].Where, found)
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

// fixes notes the columns of whole numbers that must have one of some values.
func (sc *scope) fixes(n *node, c *stmt.Condition, found map[int]fixed) {
	switch {
	case c == nil:
	case c.Kind == stmt.And:
		for _, arg := range c.Args {
			sc.fixes(n, arg, found)
		}
	case c.Kind == stmt.Equal && !c.NullSafe && !c.InRows:
		if of, _ := sc.within(n.block, c.Column); of != n || slices.ContainsFunc(c.Operands, func(o stmt.Operand) bool { return !o.Known() }) {
			return
		}
		if at, is := n.table.Column(c.Column.Name); is && n.table.Columns[at].IsInteger() {
			found[at] = fixed{n.table.Columns[at].Name, c.Operands}
		}
	}
}

// look is the locking read on a shard, which leaves out rows that are others'; ok is false where a value is none that a
// column of whole numbers is surely compared with as such. It answers with Moved if one of the rows has another gene than the one
// that they are given; nil: none is.
func (f *Finding) look(v *Values, foreign router.Foreign, given *gene.Gene) (text string, ok bool) {
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

// values are what a column is compared with. Servers may compare what is no literal of a whole number, and what stands in one
// list with it, as floating-point numbers: then those beyond what these hold are not known.
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
			case !whole || len(list) == mostFound:
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
