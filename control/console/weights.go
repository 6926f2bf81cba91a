package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"locus/idgen/gene"
	"locus/proxy/meter"
	"locus/router"
)

// weights is what genes have to bear, for the picture of the virtual nodes. To
// find it out takes questions to all proxies and shards, so it is asked for now
// and then, and only while somebody looks.
type weights struct {
	cluster Cluster
	proxy   Proxy

	mu   sync.Mutex // of what follows; held while it is found out
	load found[*meter.Loads]
	rows found[map[router.ShardName]float64]
}

func newWeights(c Cluster, p Proxy) *weights { return &weights{cluster: c, proxy: p} }

// found is what was found out, or why not.
type found[T any] struct {
	value T
	err   error
	at    time.Time
}

func (f *found[T]) renew(every time.Duration, find func() (T, error)) {
	if now := time.Now(); f.at.IsZero() || now.Sub(f.at) >= every {
		f.value, f.err = find()
		f.at = time.Now()
	}
}

// How old figures may be.
const (
	loadEvery       = 3 * time.Second
	rowsEvery       = time.Minute
	weightsPatience = 20 * time.Second
)

// weighed is the answer. Load is runs of equal rates: how many cells, and their
// statements per second.
type weighed struct {
	Load    []float64                    `json:"load"`
	Rows    map[router.ShardName]float64 `json:"rows"` // of one cell
	Trouble []string                     `json:"trouble"`
}

func (v *weights) answer(w http.ResponseWriter, r *http.Request) {
	// What is found out is for others too, who may not have gone.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), weightsPatience)
	defer cancel()
	v.mu.Lock()
	defer v.mu.Unlock()
	m := v.proxy.Map()
	v.load.renew(loadEvery, func() (*meter.Loads, error) { return v.cluster.Load(ctx, m.Width()) })
	v.rows.renew(rowsEvery, func() (map[router.ShardName]float64, error) { return v.cluster.Rows(ctx) })
	answer := weighed{Load: []float64{}, Rows: map[router.ShardName]float64{}, Trouble: []string{}}
	if v.load.err != nil {
		answer.Trouble = append(answer.Trouble, fmt.Sprintf("load: %v", v.load.err))
	} else {
		answer.Load = runs(v.load.value, m.Width())
	}
	if v.rows.err != nil {
		answer.Trouble = append(answer.Trouble, fmt.Sprintf("rows: %v", v.rows.err))
	}
	for name, rows := range v.rows.value {
		if n := m.GenesOf(name).Len(); n > 0 {
			answer.Rows[name] = rows / float64(n) * float64(genesOfCell(m.Width()))
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(answer)
}

// mostCells is how many the picture has at most.
const mostCells = 1 << 16

// genesOfCell is how many neighbours share a cell.
func genesOfCell(w gene.Width) int { return max(1, (int(w.Last())+1)/mostCells) }

// runs are the rates of cells, those of equal neighbours told once.
func runs(l *meter.Loads, w gene.Width) []float64 {
	var list []float64
	size := genesOfCell(w)
	for g := 0; g <= int(w.Last()); g += size {
		rate := l.At(gene.Gene(g)) * float64(size)
		if n := len(list); n > 0 && list[n-1] == rate {
			list[n-2]++
		} else {
			list = append(list, 1, rate)
		}
	}
	return list
}
