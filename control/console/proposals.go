package console

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"locus/control/ops"
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

func (c *Console) getProposals(w http.ResponseWriter, r *http.Request) {
	request, err := rebalanceOf(r)
	if err != nil {
		refuseJSON(w, http.StatusBadRequest, err)
		return
	}
	m := c.options.Proxy.Map()
	weight, err := c.weight(r.Context(), m, request.Measure())
	if err != nil {
		refuseJSON(w, http.StatusServiceUnavailable, fmt.Errorf("%s: %w", request.Measure(), err))
		return
	}
	a, err := proposals(m, c.options.Proxy.Declared().ShardNames(), weight, request)
	if err != nil {
		refuseJSON(w, http.StatusConflict, err)
		return
	}
	writeJSON(w, a)
}

// rebalanceOf returns the rebalance that a query proposes. The error is an *ops.Invalid.
func rebalanceOf(r *http.Request) (request ops.Rebalance, err error) {
	request.By = r.FormValue("by")
	if text := r.FormValue("tolerance"); text != "" {
		tolerance, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return request, &ops.Invalid{Problem: fmt.Sprintf("tolerance: %q is not a number", text)}
		}
		request.TolerancePercent = &tolerance
	}
	return request, request.Check()
}

// weight returns the weights of genes.
func (c *Console) weight(ctx context.Context, m *router.Map, by string) (balance.Weight, error) {
	if by == ops.ByLoad {
		loads, err := c.genes.load.get(ctx)
		if err != nil {
			return nil, err
		}
		return loads.At, nil
	}
	rows, err := c.genes.rows.get(ctx)
	if err != nil {
		return nil, err
	}
	perGene := map[router.ShardName]float64{}
	for name, n := range rows {
		perGene[name] = n / float64(max(1, m.GenesOf(name).Len()))
	}
	return func(g gene.Gene) float64 { return perGene[m.Shard(m.Lookup(g))] }, nil
}

func proposals(m *router.Map, shards []router.ShardName, weight balance.Weight, r ops.Rebalance) (proposalsAnswer, error) {
	a := proposalsAnswer{Schema: schema, By: r.Measure(), Tolerance: r.Tolerance(), Shards: []shardPart{}, Moves: []proposedMove{}}
	moves, err := r.Moves(m, shards, weight)
	if err != nil {
		return a, err
	}
	for _, p := range ops.PartsOf(m, shards, weight, moves) {
		a.Shards = append(a.Shards, shardPart{string(p.Shard), p.Weight, p.Later})
	}
	for _, v := range moves {
		a.Moves = append(a.Moves, proposedMove{string(v.From), string(v.To), v.Genes.Len(), v.Genes.String(), v.Weight})
	}
	return a, nil
}
