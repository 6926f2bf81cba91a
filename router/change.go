package router

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"locus/idgen/gene"
)

// Change gives genes to a shard, regardless of their current owners.
type Change struct {
	Genes gene.Set
	To    ShardName
}

// ErrNoChange means that the shards already own the genes.
var ErrNoChange = errors.New("nothing changes: the shards own these genes already")

// Renewed returns the next version of the map with no other change, for state that depends on the map's version.
func (m *Map) Renewed() *Map {
	next := *m
	next.version++
	return &next
}

// With returns the next version of the map with all changes applied at once and neighbouring entries of the same shard
// merged. Changes must not contradict each other or concern moving genes.
func (m *Map) With(changes ...Change) (*Map, error) {
	next, err := m.with(changes)
	if err != nil {
		return nil, fmt.Errorf("change route map version %d: %w", m.version, err)
	}
	return next, nil
}

func (m *Map) with(changes []Change) (*Map, error) {
	strips, err := stripsOf(m.width, changes)
	if err != nil {
		return nil, err
	}
	next, err := New(m.width, m.version+1, m.painted(strips))
	if err != nil {
		return nil, err
	}
	handovers, err := Diff(m, next)
	if err != nil {
		return nil, err
	}
	if len(handovers) == 0 {
		return nil, ErrNoChange
	}
	for _, h := range handovers {
		if err := m.free(h); err != nil {
			return nil, err
		}
	}
	return next.carrying(m.moving.moves)
}

// strip is a range that gets another owner.
type strip struct {
	gene.Range
	to ShardName
}

// stripsOf returns the changes' ranges, sorted and not overlapping.
func stripsOf(w gene.Width, changes []Change) ([]strip, error) {
	var strips []strip
	for _, c := range changes {
		if c.Genes.Empty() {
			return nil, fmt.Errorf("no genes for %s: name some", c.To)
		}
		if err := c.To.Validate(); err != nil {
			return nil, err
		}
		for _, r := range c.Genes.Ranges() {
			if r.Last > w.Last() {
				return nil, fmt.Errorf("genes %s for %s: %s is the last gene of %d bits", r, c.To, w.Last().Format(w), w)
			}
			strips = append(strips, strip{r, c.To})
		}
	}
	slices.SortFunc(strips, func(a, b strip) int { return cmp.Compare(a.First, b.First) })
	for i := 1; i < len(strips); i++ {
		if a, b := strips[i-1], strips[i]; a.Last >= b.First {
			return nil, fmt.Errorf("genes %s for %s and %s for %s overlap: give each gene to one shard", a.Range, a.to, b.Range, b.to)
		}
	}
	return strips, nil
}

// painted returns the map's entries overlaid with the strips.
func (m *Map) painted(strips []strip) []Entry {
	var out []Entry
	upTo := func(bound gene.Gene, shard ShardName) { // continues from the end of out
		if last := len(out) - 1; last >= 0 && out[last].Shard == shard {
			out[last].Bound = bound
		} else {
			out = append(out, Entry{bound, shard})
		}
	}
	for i, o := range m.owners {
		under := m.rangeOf(i)
		for len(strips) > 0 && strips[0].First <= under.Last {
			over := strips[0]
			if over.First > under.First {
				upTo(over.First-1, m.shards[o.shard])
			}
			upTo(min(over.Last, under.Last), over.to)
			under.First = min(over.Last, under.Last) + 1
			if over.Last > under.Last {
				strips[0].First = under.First // left to the next entry
				break
			}
			strips = strips[1:]
		}
		if under.First <= under.Last {
			upTo(under.Last, m.shards[o.shard])
		}
	}
	return out
}

// free refuses to hand over genes that a job moves, since their rows are in transfer.
func (m *Map) free(h Handover) error {
	for _, v := range m.moving.moves {
		if both := v.Genes.Intersect(h.Genes); !both.Empty() {
			return fmt.Errorf("genes %s: job %s moves them from %s to %s: finish or abort it first", both, v.Job, v.From, v.To)
		}
	}
	return nil
}
