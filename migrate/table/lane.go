package table

import (
	"fmt"
	"hash/fnv"

	"locus/idgen/gene"
)

// Parts is the moving genes cut into runs. What is of one part is applied by one
// worker, in order.
type Parts []gene.Set

// Split cuts genes into n parts of about as many genes each.
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

// All is the genes of all parts.
func (p Parts) All() gene.Set {
	var all gene.Set
	for _, s := range p {
		all = all.Union(s)
	}
	return all
}

// PartOf is the part by which changes of a row are applied. Rows of different
// genes are independent of each other only where no unique key can pass from one
// gene to another, that is where each contains a column that tells the gene;
// otherwise the whole table is one part's.
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
	h := fnv.New32a()
	_, _ = h.Write([]byte(t.Name.String())) // never fails
	return int(h.Sum32() % uint32(len(p)))
}

// ByGene tells whether changes of different genes are independent, and the genes
// are ranges of the primary key.
func (t *Table) ByGene() bool {
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

// tellsGene tells whether equal values of the index are rows of one gene. Owners
// compare by their bytes; that is what may be declared.
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

// Lane is a part of a table that is walked from one end to the other.
type Lane struct {
	Table *Table
	Part  int
	Genes gene.Set
	spans []span
	only  string // a condition besides; empty: there is none
}

// Only is those of the lane's rows for which a condition holds besides; an empty one holds for all.
func (l Lane) Only(condition string) Lane {
	l.only = condition
	return l
}

// Lanes cuts a table into what can be walked side by side.
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

// Name tells the lane from the others of a move, and is the same when the move
// is resumed.
func (l Lane) Name() string { return fmt.Sprintf("%s/%d", l.Table.Name, l.Part) }
