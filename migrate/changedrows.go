package migrate

import (
	"locus/idgen/gene"
	"locus/migrate/table"
)

// changedRows are the rows that a stream has brought changes of since the last
// comparison began: what has to be compared again before their genes change hands.
type changedRows struct {
	keys map[*table.Table]map[string]table.Key
	// tooMany: some were forgotten.
	tooMany bool
}

// mostChanged bounds how many rows are remembered.
const mostChanged = 200_000

// take adds what a stream has brought since it was last asked.
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

func (r *changedRows) add(of *table.Table, k table.Key) {
	if r.keys == nil {
		r.keys = map[*table.Table]map[string]table.Key{}
	}
	if r.keys[of] == nil {
		r.keys[of] = map[string]table.Key{}
	}
	r.keys[of][string(k.Encode())] = k
}

// of takes out those of genes, and those whose keys don't tell their gene.
func (r *changedRows) of(genes gene.Set) map[*table.Table][]table.Key {
	out := map[*table.Table][]table.Key{}
	for of, some := range r.keys {
		for name, k := range some {
			g, tells := of.GeneOfKey(k)
			if tells && !genes.Contains(g) {
				continue
			}
			out[of] = append(out[of], k)
			delete(some, name)
		}
	}
	return out
}
