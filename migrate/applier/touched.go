package applier

import "locus/migrate/table"

// mostTouched bounds how many keys are remembered.
const mostTouched = 100_000

// touched is which keys the stream has written since it was last asked. It is
// guarded by Applier.mu.
type touched struct {
	keys    map[*table.Table]map[string]table.Key
	n       int
	tooMany bool
}

func (t *touched) add(o op) {
	if t.tooMany {
		return
	}
	of := t.keys[o.table]
	if of == nil {
		if t.keys == nil {
			t.keys = map[*table.Table]map[string]table.Key{}
		}
		of = map[string]table.Key{}
		t.keys[o.table] = of
	}
	if _, there := of[o.id]; !there {
		of[o.id] = o.key
		if t.n++; t.n > mostTouched {
			*t = touched{tooMany: true}
		}
	}
}

// TakeTouched gives the keys that the stream has brought changes of since it was
// last called, or since Run began; whole is false if they were too many to be
// remembered. What was compared before the last call, and these keys compared
// again, is everything: called when a comparison begins, and again when writes are
// held and all is applied, it leaves little to be compared then.
func (a *Applier) TakeTouched() (keys map[*table.Table][]table.Key, whole bool) {
	a.mu.Lock()
	taken := a.touched
	a.touched = touched{}
	a.mu.Unlock()
	keys = map[*table.Table][]table.Key{}
	for t, of := range taken.keys {
		for _, k := range of {
			keys[t] = append(keys[t], k)
		}
	}
	return keys, !taken.tooMany
}
