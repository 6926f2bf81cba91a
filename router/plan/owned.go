package plan

import (
	"slices"

	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// Owned is the place in a statement for a condition that narrows it to the rows that its shard owns. While genes are being moved,
// shards also have rows that other shards own.
type Owned struct {
	Filter stmt.Filter
	tables []ownedTable
	next   *Owned // place in the next arm of a UNION ALL; nil: there is none
}

type ownedTable struct {
	qualifier string
	table     *catalog.Table
}

// owned returns how a statement with one block is narrowed, or nil if it can't be. Rows that are joined by their keys have one
// gene. It is therefore enough to narrow the tables of which every row of the answer contains a row.
func (sc *scope) owned(s *stmt.Statement) *Owned {
	if len(s.Blocks) != 1 {
		return nil
	}
	return sc.ownedIn(s.Blocks[0])
}

// ownedIn is owned for one block.
func (sc *scope) ownedIn(b *stmt.Block) *Owned {
	if !b.HasFilter {
		return nil
	}
	o := &Owned{Filter: b.Filter}
	list := sc.of(b)
	for i := range list {
		n := &list[i]
		if !n.sharded() || n.ref.Nullable {
			continue
		}
		if n.table.ComputableKey() == nil {
			return nil
		}
		o.tables = append(o.tables, ownedTable{n.ref.Alias, n.table})
	}
	if len(o.tables) == 0 {
		return nil
	}
	return o
}

// Without returns the condition that the rows are not foreign ones. It is empty if SQL can't compute that.
func (o *Owned) Without(foreign router.Foreign) string {
	text := ""
	for i, t := range o.tables {
		if i > 0 {
			text += " AND "
		}
		one := t.table.NoneOf(t.qualifier, foreign)
		if one == "" {
			return ""
		}
		text += one
	}
	return text
}

// Splices returns the insertions that add the condition to the text. If other insertions are made at the same place as the first,
// it comes after them.
func (o *Owned) Splices(foreign router.Foreign) []Splice {
	condition := o.Without(foreign)
	splices := []Splice{{o.Filter.Open, " " + condition + " AND ("}, {o.Filter.Close, ") "}}
	if !o.Filter.There {
		splices = []Splice{{o.Filter.Open, " WHERE " + condition + " "}}
	}
	if o.next != nil {
		splices = append(splices, o.next.Splices(foreign)...)
	}
	return splices
}

// Foreign returns the rows of other shards that one shard of a route may have while genes are being moved, and that the statement may
// concern. The error is a *Refusal of a statement that can't leave them out.
func (k *Keyed) Foreign(m *router.Map, r *Route, shard int) (router.Foreign, error) {
	foreign := m.Foreign(shard)
	if foreign.Empty() || !r.Concerns(foreign) {
		return router.Foreign{}, nil
	}
	if k.Owned == nil {
		return router.Foreign{}, UnownedRefusal()
	}
	return foreign, nil
}

// AppendOwned adds to the insertions into the text for one shard of a route the condition that leaves out the rows of other shards. It
// returns the errors of Foreign.
func (k *Keyed) AppendOwned(m *router.Map, r *Route, shard int, added []Splice) ([]Splice, error) {
	foreign, err := k.Foreign(m, r, shard)
	if err != nil || foreign.Empty() {
		return added, err
	}
	return slices.Concat(added, k.Owned.Splices(foreign)), nil
}

// UnownedRefusal returns the refusal of a statement that can't leave out rows of other shards while genes are being moved.
func UnownedRefusal() *Refusal {
	return refuse(CrossShard, "while genes are being moved a statement of this shape could see rows twice: name one owner, ID or order number in WHERE, or wait until locus jobs shows that the job has ended")
}
