package stamp

import (
	"context"
	"fmt"

	"locus/idgen/cipher"
	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/router/catalog"
	"locus/router/plan"
)

// group is the rows of one gene that request an ID. They get consecutive IDs, since drivers count up from
// LAST_INSERT_ID().
type group struct {
	gene   gene.Gene // in the width of the table's widest layout
	rows   int
	layout orderid.Layout
	next   orderid.ID
}

// join adds a row to the group of its gene.
func (s *Stamper) join(g gene.Gene) int32 {
	if last := len(s.groups) - 1; last >= 0 && s.groups[last].gene == g {
		s.groups[last].rows++
		return int32(last)
	}
	at, ok := s.byGene[g]
	if !ok {
		if s.byGene == nil {
			s.byGene = make(map[gene.Gene]int32)
		}
		at = int32(len(s.groups))
		s.byGene[g] = at
		s.groups = append(s.groups, group{gene: g})
	}
	s.groups[at].rows++
	return at
}

// issue generates the IDs with one call per gene and assigns them to the rows.
func (s *Stamper) issue(ctx context.Context, ids IDs, ring Ring) error {
	t := s.in.Table
	for i := range s.groups {
		g := &s.groups[i]
		layout, first, err := ids.Issue(ctx, t, g.gene, g.rows)
		if err != nil {
			return notIssued(ctx, fmt.Sprintf("stamp %s", t.TableName), err)
		}
		if got := layout.Gene(first); got != g.gene&layout.GeneWidth().Last() {
			return fmt.Errorf("stamp %s: the issuer gave ID %s of gene %s for gene %s: it was not used", t.TableName, first, got, g.gene)
		}
		g.layout, g.next = layout, first
	}
	keys := ring() // loaded after the wait for the ID, since the ID may need a key version that came meanwhile
	for i := range s.rows {
		if s.rows[i].group >= 0 {
			if err := s.give(&s.rows[i], keys); err != nil {
				return err
			}
		}
	}
	return nil
}

// give assigns the next ID of its gene to a row.
func (s *Stamper) give(r *row, ring *cipher.Ring) error {
	t, g := s.in.Table, &s.groups[r.group]
	r.layout, r.id, g.next = g.layout, g.next, g.next.Plus(1)
	hiding := t.Hiding()
	if hiding == catalog.InPlace || hiding == catalog.Beside && r.asked.has(plan.StampOrderNumber) {
		number, err := ring.Encode(r.layout, r.id)
		if err != nil {
			return fmt.Errorf("stamp %s: %w", t.TableName, err)
		}
		r.number = number
	}
	if hiding == catalog.InPlace {
		r.id = r.number
	}
	if !s.result.HasID {
		s.result.HasID, s.result.FirstID, s.result.Layout = true, r.id, r.layout
		if hiding != catalog.InPlace || len(s.rows) == 1 {
			s.result.CountFrom = r.id.Lo
		}
	}
	s.result.Generated++
	return nil
}
