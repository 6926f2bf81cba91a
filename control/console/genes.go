package console

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"locus/idgen/gene"
	"locus/proxy/meter"
	"locus/router"
)

// genes serves the route map and the load of genes. Computing the load takes queries of all proxies and shards, so it
// is done at intervals and only on request.
type genes struct {
	proxy Proxy
	load  lately[*meter.Loads]
	rows  lately[map[router.ShardName]float64]
}

// Maximum age of figures, and time limits.
const (
	loadEvery     = 3 * time.Second
	rowsEvery     = time.Minute
	genesPatience = 20 * time.Second
)

func newGenes(o Options) *genes {
	g := &genes{proxy: o.Proxy}
	g.load = lately[*meter.Loads]{every: loadEvery, patience: genesPatience, find: func(ctx context.Context) (*meter.Loads, error) {
		return o.Cluster.Load(ctx, o.Proxy.Map().Width())
	}}
	g.rows = lately[map[router.ShardName]float64]{every: rowsEvery, patience: genesPatience, find: o.Cluster.Rows}
	return g
}

// genesAnswer is a picture of all genes with their load.
type genesAnswer struct {
	Schema int     `json:"schema"`
	Map    picture `json:"map"`
	// Load is a list of runs of equal rates: a number of cells, then their statements per second. Rows is the
	// approximate number of rows per cell of each shard.
	Load    []float64                    `json:"load"`
	Rows    map[router.ShardName]float64 `json:"rows"`
	Hottest []hotGene                    `json:"hottest"`
	Trouble []string                     `json:"trouble"` // the figures that could not be determined
}

type hotGene struct {
	Gene      string  `json:"gene"`
	Shard     string  `json:"shard"`
	PerSecond float64 `json:"statements_per_second"`
	Share     float64 `json:"share_percent"` // share of all statements with a key
	Moving    string  `json:"moving,omitempty"`
}

// hottestTold is how many genes are listed.
const hottestTold = 10

func (g *genes) get(w http.ResponseWriter, r *http.Request) {
	m := g.proxy.Map()
	a := genesAnswer{Schema: schema, Map: newPicture(m, shardNames(m, g.proxy.Status())), Load: []float64{}, Rows: map[router.ShardName]float64{}, Hottest: []hotGene{}, Trouble: []string{}}
	if r.FormValue("weigh") != "" {
		g.weigh(r.Context(), m, &a)
	}
	writeJSON(w, a)
}

func (g *genes) weigh(ctx context.Context, m *router.Map, a *genesAnswer) {
	if loads, err := g.load.get(ctx); err != nil {
		a.Trouble = append(a.Trouble, fmt.Sprintf("load: %v", err))
	} else {
		a.Load, a.Hottest = runs(loads, m.Width()), hottest(loads, m)
	}
	rows, err := g.rows.get(ctx)
	if err != nil {
		a.Trouble = append(a.Trouble, fmt.Sprintf("rows: %v", err))
	}
	for name, n := range rows {
		if owned := m.GenesOf(name).Len(); owned > 0 {
			a.Rows[name] = n / float64(owned) * float64(genesOfCell(m.Width()))
		}
	}
}

// hottest returns the genes with most statements.
func hottest(l *meter.Loads, m *router.Map) []hotGene {
	type heat struct {
		gene gene.Gene
		rate float64
	}
	total := 0.0
	var all []heat
	for g := gene.Gene(0); g <= m.Width().Last(); g++ {
		if rate := l.At(g); rate > 0 {
			total += rate
			all = append(all, heat{g, rate})
		}
	}
	slices.SortStableFunc(all, func(a, b heat) int { return cmp.Compare(b.rate, a.rate) })
	list := []hotGene{}
	for _, h := range all[:min(len(all), hottestTold)] {
		told := hotGene{h.gene.Format(m.Width()), string(m.Shard(m.Lookup(h.gene))), h.rate, 100 * h.rate / total, ""}
		if move, is := m.MoveWith(h.gene); is {
			told.Moving = move.Job
		}
		list = append(list, told)
	}
	return list
}

// mostCells bounds the cells of the picture.
const mostCells = 1 << 16

// genesOfCell returns how many neighbouring genes share a cell.
func genesOfCell(w gene.Width) int { return max(1, (int(w.Last())+1)/mostCells) }

// runs returns the rates of cells as runs of equal values.
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
