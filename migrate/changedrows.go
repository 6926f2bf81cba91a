package migrate

import (
	"locus/migrate/applier"
	"locus/migrate/table"
	"locus/router"
)

// changedRows holds the rows that a stream has changed since the last comparison began. They must be compared
// again before they change hands.
type changedRows struct {
	keys map[*table.Table]map[string]applier.Touched
	// tooMany: some rows were dropped.
	tooMany bool
}

// mostChanged bounds the number of remembered rows.
const mostChanged = 200_000

// take adds the rows that a stream has changed since the last call.
func (r *changedRows) take(from *stream) {
	keys, whole := from.TakeTouched()
	r.tooMany = r.tooMany || !whole
	n := 0
	for _, some := range r.keys {
		n += len(some)
	}
	for of, some := range keys {
		for _, k := range some {
			if n++; n > mostChanged {
				r.tooMany = true
				return
			}
			r.add(of, k)
		}
	}
}

func (r *changedRows) add(of *table.Table, k applier.Touched) {
	if r.keys == nil {
		r.keys = map[*table.Table]map[string]applier.Touched{}
	}
	if r.keys[of] == nil {
		r.keys[of] = map[string]applier.Touched{}
	}
	r.keys[of][string(k.Key.Encode())] = k
}

// of removes and returns the rows of a part.
func (r *changedRows) of(rows router.Part) map[*table.Table][]table.Key {
	out := map[*table.Table][]table.Key{}
	for of, some := range r.keys {
		for name, k := range some {
			if !rows.Has(k.Gene, k.Residue) {
				continue
			}
			out[of] = append(out[of], k.Key)
			delete(some, name)
		}
	}
	return out
}
