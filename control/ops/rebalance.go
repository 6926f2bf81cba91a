package ops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"locus/control/declared"
	"locus/idgen/gene"
	"locus/migrate/job"
	"locus/router"
	"locus/router/balance"
	"locus/router/cluster"
)

// The quantities that a rebalance can distribute evenly.
const (
	ByLoad = "load" // statements per second
	ByRows = "rows" // as the servers estimate the rows, spread evenly over the genes of each shard
)

// Rebalance requests jobs after which no shard has much more than an equal part.
type Rebalance struct {
	// By is ByLoad, the default, or ByRows.
	By string `json:"by,omitempty"`
	// Onto names the shards that take part; empty: all registered ones.
	Onto []router.ShardName `json:"onto,omitempty"`
	// TolerancePercent is how much more than an equal part a shard may have, from 0 to 1000; nil: 10.
	TolerancePercent *float64 `json:"tolerance_percent,omitempty"`
	Starting
}

// Rebalancing contains the jobs of a rebalance, which are planned and checked, and not written yet.
type Rebalancing struct {
	Cluster *cluster.Cluster
	Shards  []router.ShardName // that take part
	Weight  balance.Weight     // of a gene
	Load    *Load              // nil: by rows
	Moves   []balance.Move     // empty: the shards are even
	Plans   []*Plan            // one for each move
}

// PlanRebalance plans the jobs of a rebalance, and checks the shards. Nothing is written.
func (o *Ops) PlanRebalance(ctx context.Context, r Rebalance, by string) (*Rebalancing, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	c, err := declared.Current(ctx, o.kv)
	if err != nil {
		return nil, err
	}
	b := &Rebalancing{Cluster: c, Shards: r.Onto}
	for _, name := range r.Onto {
		if err := registered(c, name); err != nil {
			return nil, err
		}
	}
	if len(r.Onto) == 0 {
		b.Shards = c.ShardNames()
	}
	if err := o.weigh(ctx, r, b); err != nil {
		return nil, err
	}
	if b.Moves, err = r.Moves(c.Routes, b.Shards, b.Weight); err != nil {
		return nil, err
	}
	return b, o.planMoves(ctx, r, b, by)
}

// By and tolerance of a request that leaves them out.
const (
	usualMeasure   = ByLoad
	usualTolerance = 10.0
)

// Measure returns the quantity that the request distributes evenly.
func (r Rebalance) Measure() string { return cmp.Or(r.By, usualMeasure) }

// Tolerance returns the tolerance, in percent.
func (r Rebalance) Tolerance() float64 {
	if r.TolerancePercent == nil {
		return usualTolerance
	}
	return *r.TolerancePercent
}

// noWeight maps a measure to the reason why it may be empty. The reason disappears without action.
var noWeight = map[string]string{
	ByLoad: "no statement with a key was counted in the last minutes",
	ByRows: "the shards' servers estimate no rows of sharded tables yet; ANALYZE TABLE updates the estimates",
}

// Moves returns the moves after which no shard has much more than an equal part of the weight.
func (r Rebalance) Moves(m *router.Map, shards []router.ShardName, weight balance.Weight) ([]balance.Move, error) {
	moves, err := balance.Rebalance(m, shards, weight, r.Tolerance()/100)
	if errors.Is(err, balance.ErrNoWeight) {
		return nil, fmt.Errorf("there is nothing to balance by %s: %s", r.Measure(), noWeight[r.Measure()])
	}
	return moves, err
}

// Part is the share of a shard before and after moves.
type Part struct {
	Shard         router.ShardName
	Genes, After  int
	Weight, Later float64
}

// PartsOf returns the shares of the shards before and after moves.
func PartsOf(m *router.Map, shards []router.ShardName, weight balance.Weight, moves []balance.Move) []Part {
	parts := make([]Part, len(shards))
	for i, name := range shards {
		genes := m.GenesOf(name)
		p := Part{Shard: name, Genes: genes.Len(), After: genes.Len(), Weight: weightOf(genes, weight)}
		p.Later = p.Weight
		for _, v := range moves {
			switch name {
			case v.From:
				p.After, p.Later = p.After-v.Genes.Len(), p.Later-v.Weight
			case v.To:
				p.After, p.Later = p.After+v.Genes.Len(), p.Later+v.Weight
			}
		}
		parts[i] = p
	}
	return parts
}

func weightOf(genes gene.Set, weight balance.Weight) (total float64) {
	for _, r := range genes.Ranges() {
		for g := r.First; ; g++ {
			total += weight(g)
			if g == r.Last {
				break
			}
		}
	}
	return total
}

// Check returns an *Invalid if no state of a cluster accepts the request.
func (r Rebalance) Check() error {
	switch {
	case r.By != "" && r.By != ByLoad && r.By != ByRows:
		return invalid("a rebalance by %q is unknown; use %s or %s", r.By, ByLoad, ByRows)
	case !(r.Tolerance() >= 0 && r.Tolerance() <= 1000): // also refuses NaN
		return invalid("a tolerance of %v %% is not possible; use 0 to 1000 %%", r.Tolerance())
	}
	return r.Starting.Check()
}

// weigh measures the weight of genes.
func (o *Ops) weigh(ctx context.Context, r Rebalance, b *Rebalancing) (err error) {
	m := b.Cluster.Routes
	if r.Measure() == ByLoad {
		if b.Load, err = MeasureLoad(ctx, o.kv, m.Width()); err != nil {
			return err
		}
		b.Weight = b.Load.At
		return nil
	}
	perGene := map[router.ShardName]float64{}
	for _, name := range b.Cluster.ShardNames() {
		genes := m.GenesOf(name).Len()
		if genes == 0 {
			continue
		}
		rows, err := EstimateRows(ctx, o.jobs, b.Cluster, name)
		if err != nil {
			return fmt.Errorf("estimate the rows on %s: %w", name, err)
		}
		perGene[name] = rows / float64(genes)
	}
	b.Weight = func(g gene.Gene) float64 { return perGene[m.Shard(m.Lookup(g))] }
	return nil
}

func (o *Ops) planMoves(ctx context.Context, r Rebalance, b *Rebalancing, by string) error {
	for i, v := range b.Moves {
		p, err := o.planStart(ctx, evening{v, r.Starting}, &Plan{Cluster: b.Cluster, by: by, after: i})
		if err != nil {
			return err
		}
		if err := p.Refusal(); err != nil {
			return fmt.Errorf("from %s to %s: %w", v.From, v.To, err)
		}
		b.Plans = append(b.Plans, p)
	}
	return nil
}

// evening requests one move of a rebalance.
type evening struct {
	balance.Move
	Starting
}

func (e evening) plan(ctx context.Context, o *Ops, p *Plan) error {
	chosen := func(context.Context, *Ops, *Plan, gene.Set) (gene.Set, error) { return e.Genes, nil }
	return o.planMove(ctx, p, move{job.Rebalance, e.From, e.To, chosen, false, e.Starting})
}

// StartRebalance writes the records of the planned jobs, one after the other. It returns the jobs that were written; with an error, the
// jobs after these were not.
func (o *Ops) StartRebalance(ctx context.Context, b *Rebalancing) (started []*job.Job, err error) {
	for _, p := range b.Plans {
		if err := o.Start(ctx, p); err != nil {
			return started, errors.Join(err, begun(started))
		}
		started = append(started, p.Job)
	}
	return started, nil
}

// begun returns an error that names the jobs that were written before another one failed; nil if there are none.
func begun(started []*job.Job) error {
	if len(started) == 0 {
		return nil
	}
	ids := make([]string, len(started))
	for i, j := range started {
		ids[i] = j.ID
	}
	return fmt.Errorf("these jobs have started: %s", strings.Join(ids, ", "))
}

// Rebalance plans and checks the jobs of a rebalance, and starts them.
func (o *Ops) Rebalance(ctx context.Context, r Rebalance, by string) ([]*job.Job, error) {
	b, err := o.PlanRebalance(ctx, r, by)
	if err != nil {
		return nil, err
	}
	return o.StartRebalance(ctx, b)
}
