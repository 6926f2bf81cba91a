package applier

import (
	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/migrate/table"
)

// mostTouched bounds how many keys are remembered.
const mostTouched = 100_000

// Touched is the key of a row that a stream has written, and of what part of the moving rows that is: the last time, where it
// was of several.
type Touched struct {
	Key     table.Key
	Gene    gene.Gene
	Residue orderid.Residue // 0 where they don't count
}

// touched is which keys the stream has written since it was last asked. It is
// guarded by Applier.mu.
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

// TakeTouched gives the keys that the stream has brought changes of since it was
// last called, or since Run began; whole is false if they were too many to be
// remembered. What was compared before the last call, and these keys compared
// again, is everything: called when a comparison begins, and again when writes are
// held and all is applied, it leaves little to be compared then.
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
