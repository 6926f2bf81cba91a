package plan

import (
	"slices"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/router"
	"locus/router/stmt"
)

// groups are sets of nodes, as a union-find forest. Each element is the index of a node of the same set, or the node's own.
type groups []int

func (g groups) root(i int) int {
	for g[i] != i {
		i = g[i]
	}
	return i
}

// joinSides puts two nodes into one group if their rows have the same residue wherever the condition holds, because they are
// joined by the keys that determine it. The rule is that of classes, see [scope.join].
func (sc *scope) joinSides(x, y *node, r region) {
	rx, ry := sc.sides.root(sc.number(x)), sc.sides.root(sc.number(y))
	within := func(root int) bool {
		for i := range sc.nodes {
			if sc.sides.root(i) == root && !r.has(&sc.nodes[i]) {
				return false
			}
		}
		return true
	}
	if rx != ry && (within(rx) || within(ry)) {
		sc.sides[max(rx, ry)] = min(rx, ry)
	}
}

// number returns the index of a node among all nodes.
func (sc *scope) number(n *node) int { return sc.first[n.block] + n.index }

// sided reports whether all rows of a class that are joined into one row of the answer are on one shard, even if their gene is
// divided.
func (sc *scope) sided() bool {
	of := map[int]int{} // by class
	for i := range sc.nodes {
		n := &sc.nodes[i]
		if !n.sharded() {
			continue
		}
		class, side := sc.root(n), sc.sides.root(i)
		if was, known := of[class]; known && was != side || n.table.Side() == nil {
			return false
		}
		of[class] = side
	}
	return true
}

// checkDivided refuses a statement that joins rows of divided genes that may be on different shards.
func (p *Keyed) checkDivided(m *router.Map, r *Route) *Refusal {
	if p.sided || m.Divided().Empty() || !r.Meets(m.Divided()) {
		return nil
	}
	return refuse(CrossShard, "the rows of genes %s are on two shards, by their sequences, and it does not join them on the ID or the parent's ID: do that, or wait until locus jobs shows that the job has ended",
		m.Divided())
}

// side is a residue, or anySide.
type side int8

const anySide side = -1

// owners records a gene of a condition, and returns the index of the shard that owns its rows as low. high is then -1. If the
// gene is divided and the condition doesn't determine the residue, low and high are its two shards.
func (r *Route) owners(m *router.Map, c *condition, g gene.Gene, v stmt.Value, how manner) (low, high int) {
	low, high, divided := m.Sides(g)
	if !divided {
		r.record(g, anySide)
		return m.Lookup(g), -1
	}
	residue, known := c.residue(v, how)
	if !known {
		r.record(g, anySide)
		return low, high
	}
	r.record(g, side(residue))
	return m.LookupRow(g, residue), -1
}

func (r *Route) record(g gene.Gene, s side) {
	r.Genes, r.sides = append(r.Genes, g), append(r.sides, s)
}

// residue returns the residue of the rows that satisfy the condition with a value. It returns false if the value doesn't
// determine it.
func (c *condition) residue(v stmt.Value, how manner) (orderid.Residue, bool) {
	switch {
	case !c.side:
		return 0, false
	case how == listed, c.inRows:
		return c.key.ResidueInList(v)
	}
	return c.key.Residue(v)
}

// Concerns reports whether the statement may concern rows of f, which are the foreign rows of some shard.
func (r *Route) Concerns(f router.Foreign) bool {
	if r.All {
		return !f.Empty()
	}
	for i, g := range r.Genes {
		for _, p := range f.Parts {
			if p.Genes.Contains(g) && (r.sides[i] == anySide || f.Has(g, orderid.Residue(r.sides[i]))) {
				return true
			}
		}
		if f.Genes.Contains(g) {
			return true
		}
	}
	return len(r.ranges) > 0 && !gene.NewSet(r.ranges...).Intersect(f.Meets()).Empty()
}

// Whole reports whether the statement names the single owner or row that it concerns. Its gene may still be on two shards.
func (r *Route) Whole() bool {
	_, one := r.onlyGene()
	return one
}

// Residue returns the residue of the ID by which a row of a divided gene is placed. It returns false if the row has no such ID
// yet, because the residue then depends on the ID that it gets.
func (in *Insertion) Residue(v *Values, row int) (r orderid.Residue, known bool) {
	switch side := in.Table.Side(); {
	case side == nil:
		return 0, false
	case side == in.Table.Root():
		return side.StoredResidue(in.root(v, row))
	case in.ID < 0 || AsksForValue(in.Value(v, row, in.ID)):
		return 0, false
	default:
		return side.StoredResidue(in.Value(v, row, in.ID))
	}
}

// collectUnsided sets unsided to the unique keys whose equal values may be on both sides of a divided gene. These are the keys
// without the column that determines the residue, and without the order number of that ID.
func (in *Insertion) collectUnsided() {
	t := in.Table
	side := t.Side()
	for _, u := range t.Unique {
		if side == nil || slices.ContainsFunc(u.Columns, func(c int) bool { return t.DeterminesSide(side, c) }) {
			continue
		}
		key, generated := unseenKey{name: u.Name}, false
		for _, c := range u.Columns {
			at := slices.Index(in.Columns, c)
			if at >= 0 {
				key.at = append(key.at, at)
			}
			generated = generated || at < 0 && (c == t.IDColumn || t.IsStamped(c) || c == in.number || t.Columns[c].DefaultsToNull)
		}
		if !generated {
			in.unsided = append(in.unsided, key)
		}
	}
}

// CheckSide refuses a row of a divided gene that may have a duplicate on the other side, and a row of a table whose genes can't be
// divided.
func (in *Insertion) CheckSide(v *Values, row int, g gene.Gene) *Refusal {
	t := in.Table
	if t.Side() == nil {
		return refuse(CrossShard, "the rows of gene %s are on two shards, by their sequences, and those of %s have none: wait until locus jobs shows that the job has ended", g, t.TableName)
	}
	for _, u := range in.unsided {
		generated := func(at int) bool {
			return AsksForValue(in.written(v, row, at)) && (in.Columns[at] == t.IDColumn || in.written(v, row, at).Kind == stmt.Null)
		}
		if !slices.ContainsFunc(u.at, generated) {
			instead := "leave the key's column out, if it is generated"
			if in.replaces {
				instead = "look for the row first and write a plain INSERT or UPDATE"
			}
			return refuse(UniqueUnseen, "a row that may be a duplicate, of %s, while the rows of gene %s are on two shards, by their sequences: its unique key %s does not contain %s, so that one on the other shard would not be seen: "+
				"%s, or wait until locus jobs shows that the job has ended", t.TableName, g, u.name, t.Side().Column.Name, instead)
		}
	}
	return nil
}

// shardsOfRow returns the shards that a row of an INSERT may be inserted into.
func (e *explainer) shardsOfRow(in *Insertion, row int, g gene.Gene) []int {
	low, high, divided := e.m.Sides(g)
	if !divided {
		return []int{e.m.Lookup(g)}
	}
	if r, known := in.Residue(e.v, row); known {
		return []int{e.m.LookupRow(g, r)}
	}
	return []int{low, high}
}
