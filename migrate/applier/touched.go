package applier

import (
	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/migrate/table"
)

// mostTouched bounds the keys remembered.
const mostTouched = 100_000

// Touched is the key of a row that a stream has written, and the part of the moving rows that it belongs to. If there were
// several, it is the last one.
type Touched struct {
	Key     table.Key
	Gene    gene.Gene
	Residue orderid.Residue // 0 if residues don't matter
}

// touched holds the keys written by the stream since the last TakeTouched. Applier.mu guards it.
type touched struct {
	keys    map[*table.Table]map[string]Touched
	n       int
	tooMany bool
}

func (t *touched) add(o op, g gene.Gene, r orderid.Residue) {
	if t.tooMany {
		return
	}
	of := t.keys[o.table]
	if of == nil {
		if t.keys == nil {
			t.keys = map[*table.Table]map[string]Touched{}
		}
		of = map[string]Touched{}
		t.keys[o.table] = of
	}
	if _, there := of[o.id]; !there {
		if t.n++; t.n > mostTouched {
			*t = touched{tooMany: true}
			return
		}
	}
	of[o.id] = Touched{o.key, g, r}
}

// TakeTouched returns the keys that the stream has changed since the last call, or since Run began. whole is false if they
// were too many to remember. A comparison before the last call, together with a new comparison of these keys, covers
// everything. So calling it when a comparison begins, and again when writes are held and all is applied, leaves little to
// compare then.
func (a *Applier) TakeTouched() (keys map[*table.Table][]Touched, whole bool) {
	a.mu.Lock()
	taken := a.touched
	a.touched = touched{}
	a.mu.Unlock()
	keys = map[*table.Table][]Touched{}
	for t, of := range taken.keys {
		for _, k := range of {
			keys[t] = append(keys[t], k)
		}
	}
	return keys, !taken.tooMany
}
