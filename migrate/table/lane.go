package table

import (
	"fmt"
	"hash/fnv"

	"locus/idgen/gene"
)

// Parts is the moving genes divided into runs. One worker applies each part's changes in order.
type Parts []gene.Set

// Split divides genes into n parts of about equal size.
func Split(genes gene.Set, n int) Parts {
	parts := make(Parts, 0, n)
	left := genes
	for i := range n {
		size := left.Len() / (n - i)
		var taken []gene.Range
		for _, r := range left.Ranges() {
			if size == 0 {
				break
			}
			r.Last = min(r.Last, r.First+gene.Gene(size)-1)
			taken = append(taken, r)
			size -= r.Len()
		}
		part := gene.NewSet(taken...)
		left = left.Subtract(part)
		parts = append(parts, part)
	}
	return parts
}

// All returns the genes of all parts.
func (p Parts) All() gene.Set {
	var all gene.Set
	for _, s := range p {
		all = all.Union(s)
	}
	return all
}

// PartOf returns the part that applies a row's changes. Rows of different genes are independent only if no unique value
// can pass from one gene to another, that is, if every unique key contains a column that determines the gene. Otherwise
// the whole table belongs to one part.
func (t *Table) PartOf(g gene.Gene, p Parts) int {
	if !t.ByGene() {
		return t.home(p)
	}
	for i, s := range p {
		if s.Contains(g) {
			return i
		}
	}
	return 0
}

func (t *Table) home(p Parts) int {
	name := t.Name.String()
	if t.ties.group != nil {
		name = t.ties.group.name
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // never fails
	return int(h.Sum32() % uint32(len(p)))
}

// ByGene reports whether changes of different genes are independent and the genes are ranges of the row's key. This holds for all
// tables that cascades connect, or for none.
func (t *Table) ByGene() bool {
	if t.ties.group != nil {
		return t.ties.group.byGene
	}
	return t.ownByGene()
}

func (t *Table) ownByGene() bool {
	if !t.telling.leads {
		return false
	}
	for _, u := range t.Unique {
		if !t.tellsGene(u) {
			return false
		}
	}
	return true
}

// tellsGene reports whether equal values of the index imply the same gene. Owners are compared bytewise; only such may
// be declared.
func (t *Table) tellsGene(u Index) bool {
	for _, c := range u.Columns {
		if c < 0 {
			continue
		}
		if _, ok := t.Declared.KeyOf(t.Columns[c].Name); ok {
			return true
		}
	}
	return false
}

// Lane is a part of a table that is traversed from one end to the other.
type Lane struct {
	Table *Table
	Part  int
	Genes gene.Set
	spans []span
	only  string // an additional condition, or empty
}

// Only returns the lane restricted by an additional condition. An empty condition restricts nothing.
func (l Lane) Only(condition string) Lane {
	l.only = condition
	return l
}

// Lanes divides a table into lanes that can be traversed concurrently.
func (t *Table) Lanes(p Parts) []Lane {
	if !t.ByGene() {
		all := p.All()
		return []Lane{{Table: t, Part: t.home(p), Genes: all, spans: t.spans(all)}}
	}
	var lanes []Lane
	for i, genes := range p {
		if !genes.Empty() {
			lanes = append(lanes, Lane{Table: t, Part: i, Genes: genes, spans: t.spans(genes)})
		}
	}
	return lanes
}

// Name returns the lane's name, which is unique within a move and the same when the move is resumed.
func (l Lane) Name() string { return fmt.Sprintf("%s/%d", l.Table.Name, l.Part) }
