package console

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"locus/idgen/gene"
	"locus/router"
	"locus/router/balance"
)

// proposalsAnswer is the moves that balance the shards, as proposed by locus rebalance.
type proposalsAnswer struct {
	Schema    int            `json:"schema"`
	By        string         `json:"by"` // load (statements per second) or rows
	Tolerance float64        `json:"tolerance_percent"`
	Shards    []shardPart    `json:"shards"`
	Moves     []proposedMove `json:"moves"` // empty if the shards are balanced
}

type shardPart struct {
	Name   string  `json:"name"`
	Weight float64 `json:"weight"`
	After  float64 `json:"weight_after"`
}

type proposedMove struct {
	From   string  `json:"from"`
	To     string  `json:"to"`
	Genes  int     `json:"genes"`
	Ranges string  `json:"gene_ranges"` // all of them, as arguments of a split
	Weight float64 `json:"weight"`
}

// tolerated is the default for the percentage by which a shard may exceed an equal part.
const tolerated = 10

var errNoMeasure = errors.New("by: load or rows; tolerance: percent, from 0 to 1000")

// Causes of an empty measure, which pass by themselves.
var (
	errNoLoad = errors.New("no statement with a key was counted in the last minutes")
	errNoRows = errors.New("the shards' servers estimate no rows of sharded tables yet; ANALYZE TABLE has them look")
)

func (c *Console) getProposals(w http.ResponseWriter, r *http.Request) {
	by, tolerance := r.FormValue("by"), float64(tolerated)
	if by == "" {
		by = "load"
	}
	if text := r.FormValue("tolerance"); text != "" {
		var err error
		if tolerance, err = strconv.ParseFloat(text, 64); err != nil || !(tolerance >= 0 && tolerance <= 1000) { // also refuses NaN
			refuseJSON(w, http.StatusBadRequest, errNoMeasure)
			return
		}
	}
	m := c.options.Proxy.Map()
	weight, err := c.weight(r, m, by)
	switch {
	case errors.Is(err, errNoMeasure):
		refuseJSON(w, http.StatusBadRequest, err)
		return
	case err != nil:
		refuseJSON(w, http.StatusServiceUnavailable, fmt.Errorf("%s: %w", by, err))
		return
	}
	a, err := proposals(m, c.options.Proxy.Declared().ShardNames(), weight, tolerance)
	if errors.Is(err, balance.ErrNoWeight) {
		err = map[string]error{"load": errNoLoad, "rows": errNoRows}[by]
	}
	if err != nil {
		refuseJSON(w, http.StatusConflict, fmt.Errorf("there is nothing to make even by %s: %w", by, err))
		return
	}
	a.By = by
	writeJSON(w, a)
}

// weight returns the weights of genes.
func (c *Console) weight(r *http.Request, m *router.Map, by string) (balance.Weight, error) {
	switch by {
	case "load":
		loads, err := c.genes.load.get(r.Context())
		if err != nil {
			return nil, err
		}
		return loads.At, nil
	case "rows":
		rows, err := c.genes.rows.get(r.Context())
		if err != nil {
			return nil, err
		}
		perGene := map[router.ShardName]float64{}
		for name, n := range rows {
			perGene[name] = n / float64(max(1, m.GenesOf(name).Len()))
		}
		return func(g gene.Gene) float64 { return perGene[m.Shard(m.Lookup(g))] }, nil
	}
	return nil, errNoMeasure
}

func proposals(m *router.Map, shards []router.ShardName, weight balance.Weight, tolerance float64) (proposalsAnswer, error) {
	a := proposalsAnswer{Schema: schema, Tolerance: tolerance, Shards: []shardPart{}, Moves: []proposedMove{}}
	moves, err := balance.Rebalance(m, shards, weight, tolerance/100)
	if err != nil {
		return a, err
	}
	parts := map[router.ShardName]*shardPart{}
	for _, name := range shards {
		part := &shardPart{Name: string(name)}
		for _, r := range m.GenesOf(name).Ranges() {
			for g := int(r.First); g <= int(r.Last); g++ {
				part.Weight += weight(gene.Gene(g))
			}
		}
		part.After = part.Weight
		parts[name] = part
	}
	for _, v := range moves {
		a.Moves = append(a.Moves, proposedMove{string(v.From), string(v.To), v.Genes.Len(), v.Genes.String(), v.Weight})
		parts[v.From].After -= v.Weight
		parts[v.To].After += v.Weight
	}
	for _, name := range shards {
		a.Shards = append(a.Shards, *parts[name])
	}
	return a, nil
}
