package plan

import (
	"fmt"
	"slices"

	"locus/router"
	"locus/router/stmt"
)

// A UNION ALL of sharded tables is sent whole to every shard that has rows of one of its arms. Each shard returns the rows of all arms
// that it owns. An arm finds no rows on a shard that only another arm needs: the rows of its keys are on other shards, and foreign
// rows are left out. A hidden column has the number of the arm. The answers are merged by it, so that the rows of the first arm come
// first, as servers return them.

// splitArms makes the arms of a UNION ALL independent of each other, if every row of each arm is on one shard.
func (sc *scope) splitArms(s *stmt.Statement, k *Keyed) {
	const excluded = stmt.With | stmt.Windows | stmt.SetsInsertID | stmt.OneServer | stmt.Scored | stmt.UnknownFunction
	if len(s.Arms) == 0 || len(s.Blocks) != len(s.Arms) || s.ArmsOrdered || s.Examined || s.Features&excluded != 0 || s.ArmsLimit != nil && !s.ArmsLimit.Divides() {
		return
	}
	all := sc.classes()
	var arms []Keyed
	for _, b := range s.Arms {
		if !sc.concatenates(b) {
			return
		}
		arm := Keyed{Owned: sc.ownedIn(b), sided: k.sided}
		for _, c := range all {
			if c.block == b {
				arm.classes = append(arm.classes, c)
			}
		}
		arms = append(arms, arm)
	}
	k.arms, k.Owned = arms, arms[0].Owned
	for i := range arms {
		if arms[i].Owned == nil {
			k.Owned = nil
			return
		}
		if i > 0 {
			arms[i-1].Owned.next = arms[i].Owned
		}
	}
}

// mergeArms returns how the answers to a UNION ALL are merged.
func mergeArms(s *stmt.Statement) *Merge {
	m := &Merge{Kind: Ordered, Hidden: 1, Keys: []SortKey{{Hidden: true}}, Limit: s.ArmsLimit, describe: "rows of one arm after those of another"}
	for i, b := range s.Arms {
		m.Columns = append(m.Columns, Splice{b.From, fmt.Sprintf(", %d AS `locus_hidden_0` ", i)})
	}
	return m
}

// concatenates reports whether the rows of an arm on several shards are the arm's rows.
func (sc *scope) concatenates(b *stmt.Block) bool {
	if b.Distinct || b.Grouped || b.Having || b.Natural || b.Using || slices.ContainsFunc(b.Fields, func(f stmt.Field) bool { return f.Aggregate != stmt.NoAggregate }) {
		return false
	}
	list := sc.of(b)
	for i := range list {
		if list[i].sharded() && !list[i].ref.Nullable {
			return true
		}
	}
	return false
}

// locateArms is Locate for a UNION ALL: the rows are on the shards of all arms.
func (p *Keyed) locateArms(m *router.Map, v *Values, out *Route) error {
	var of Route
	for i := range p.arms {
		if err := p.arms[i].Locate(m, v, &of); err != nil {
			return err
		}
		for _, shard := range of.Shards {
			out.Shards = insert(out.Shards, shard)
		}
		out.Genes, out.sides, out.ranges = append(out.Genes, of.Genes...), append(out.sides, of.sides...), append(out.ranges, of.ranges...)
		out.All = out.All || of.All
	}
	if out.All {
		out.Genes, out.sides = out.Genes[:0], out.sides[:0]
	}
	return nil
}
