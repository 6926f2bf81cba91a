package ops

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"locus/control/declared"
	"locus/idgen/gene"
	"locus/migrate/job"
	"locus/migrate/preflight"
	"locus/router"
	"locus/router/balance"
	"locus/router/cluster"
)

// Half is the value of Split.Genes for the upper half of the genes that the source owns.
const Half = "half"

// How a split hands rows over: one gene after the other, or the rows of all its genes by their sequences.
const (
	ByGene     = "gene"
	BySequence = "sequence"
)

// Start is a request to start a job: [Split], [Merge], [Import], or a move of [Rebalance].
type Start interface {
	// Check returns an *Invalid if no state of a cluster accepts the request. PlanStart calls it before it reads the cluster.
	Check() error
	// plan fills in the record of the job. The error is the reason why the cluster refuses it, or an *Invalid for genes that its
	// width does not have.
	plan(ctx context.Context, o *Ops, p *Plan) error
}

// Starting contains the fields of all requests that start a job.
type Starting struct {
	// Throttle is the part of the time for which copying, comparing and deleting pause, in percent from 0 to 95.
	Throttle int `json:"throttle_percent,omitempty"`
	// Why is the reason, for the journal and the history of the route map.
	Why string `json:"why,omitempty"`
}

// Split requests a job that moves some genes of a shard to another shard.
type Split struct {
	From router.ShardName `json:"from"`
	To   router.ShardName `json:"to"`
	// Genes is Half, or ranges of genes like 0x2000-0x3fff,0x5000.
	Genes string `json:"genes,omitempty"`
	// HottestPercent replaces Genes: the genes with the most statements that have this share of the source's load, above 0 and below 100.
	HottestPercent *float64 `json:"hottest_percent,omitempty"`
	// By is ByGene, the default, or BySequence.
	By string `json:"by,omitempty"`
	Starting
}

// Merge requests a job that moves all genes of a shard to another shard.
type Merge struct {
	From router.ShardName `json:"from"`
	Into router.ShardName `json:"into"`
	Starting
}

// Plan is a job that is planned and checked, and not written yet.
type Plan struct {
	Job     *job.Job
	Cluster *cluster.Cluster // the cluster for which the job was planned
	Load    *Load            // the load by which the genes were chosen; nil: they were not chosen by load
	// Problems are the reasons on the shards that prevent the job.
	Problems []preflight.Problem
	// Unchecked is the reason why the shards could not be checked; nil: they were. It wraps ErrNoSecrets if this process has no
	// secrets for that. Then the process that runs the job checks them before it begins.
	Unchecked error
	// Warnings lists the statements that will be refused during a split by sequence, or the reason why that is not known.
	Warnings []string

	by    string
	after int // the number of jobs that are planned before this one, and not written yet
}

// PlanStart plans the job that a request would start, and checks the shards. Nothing is written. The error is an *Invalid, or the
// reason why the cluster refuses the job. Problems on the shards are in the plan.
func (o *Ops) PlanStart(ctx context.Context, s Start, by string) (*Plan, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	c, err := declared.Current(ctx, o.kv)
	if err != nil {
		return nil, err
	}
	return o.planStart(ctx, s, &Plan{Cluster: c, by: by})
}

func (o *Ops) planStart(ctx context.Context, s Start, p *Plan) (*Plan, error) {
	if err := s.plan(ctx, o, p); err != nil {
		return nil, err
	}
	if err := p.Job.Check(); err != nil {
		return nil, err
	}
	p.Problems, p.Unchecked = o.obstacles(ctx, p.Job, p.Cluster)
	if p.Job.BySequence {
		p.Warnings = o.divided(ctx, p.Cluster)
	}
	return p, nil
}

// Refusal returns why the job must not start: a *Refused, or the reason why the shards could not be checked. A process without secrets
// leaves the check to the process that runs the job.
func (p *Plan) Refusal() error {
	switch {
	case len(p.Problems) > 0:
		return &Refused{p.Problems}
	case errors.Is(p.Unchecked, ErrNoSecrets):
		return nil
	}
	return p.Unchecked
}

// Start writes the record of a planned job, unless there is a refusal. The processes with the role mover run it then.
func (o *Ops) Start(ctx context.Context, p *Plan) error {
	if err := p.Refusal(); err != nil {
		return err
	}
	return o.jobs.Create(ctx, p.Job)
}

// Refused is the error for everything that prevents a job.
type Refused struct{ Problems []preflight.Problem }

func (r *Refused) Error() string {
	var lines []string
	for _, p := range r.Problems {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

// Check returns an *Invalid for a throttle out of bounds.
func (s Starting) Check() error {
	if s.Throttle < 0 || s.Throttle > job.MostRest {
		return invalidRest(float64(s.Throttle))
	}
	return nil
}

// Check implements [Start].
func (r Split) Check() error {
	switch {
	case r.Genes == "" && r.HottestPercent == nil:
		return invalid("no genes are named; name %s, ranges of genes like 0x2000-0x3fff,0x5000, or the share of the hottest genes", Half)
	case r.Genes != "" && r.HottestPercent != nil:
		return invalid("genes %s and the hottest genes are both named; name one of them", r.Genes)
	case r.HottestPercent != nil && !(*r.HottestPercent > 0 && *r.HottestPercent < 100): // also refuses NaN
		return invalid("the hottest genes with %v %% of the load can't be split off; use a share above 0 %% and below 100 %%", *r.HottestPercent)
	case r.By != "" && r.By != ByGene && r.By != BySequence:
		return invalid("a split by %q is unknown; use %s or %s", r.By, ByGene, BySequence)
	}
	return r.Starting.Check()
}

func (r Split) plan(ctx context.Context, o *Ops, p *Plan) error {
	return o.planMove(ctx, p, move{job.Split, r.From, r.To, r.choose, r.By == BySequence, r.Starting})
}

func (r Split) choose(ctx context.Context, o *Ops, p *Plan, owned gene.Set) (gene.Set, error) {
	w := p.Cluster.Routes.Width()
	switch {
	case strings.EqualFold(r.Genes, Half):
		return owned.Subtract(owned.First(owned.Len() / 2)), nil
	case r.HottestPercent == nil:
		genes, err := gene.ParseSet(r.Genes, w)
		if err != nil {
			return genes, invalid("genes %q: %v; name %s, or ranges of genes like 0x2000-0x3fff,0x5000", r.Genes, err, Half)
		}
		return genes, nil
	}
	var err error
	if p.Load, err = MeasureLoad(ctx, o.kv, w); err != nil {
		return gene.Set{}, err
	}
	genes, err := balance.Hottest(w, owned.Subtract(p.Cluster.Routes.Moving()), p.Load.At, *r.HottestPercent/100)
	if err != nil {
		return genes, fmt.Errorf("choose the hottest genes of %s: %w; locus hot shows the load of the genes", r.From, err)
	}
	return genes, nil
}

func (r Merge) plan(ctx context.Context, o *Ops, p *Plan) error {
	all := func(_ context.Context, _ *Ops, _ *Plan, owned gene.Set) (gene.Set, error) { return owned, nil }
	return o.planMove(ctx, p, move{job.Merge, r.From, r.Into, all, false, r.Starting})
}

// move is a job that moves genes from one shard to another.
type move struct {
	kind       job.Kind
	from, to   router.ShardName
	choose     func(ctx context.Context, o *Ops, p *Plan, owned gene.Set) (gene.Set, error)
	bySequence bool
	Starting
}

func (o *Ops) planMove(ctx context.Context, p *Plan, m move) error {
	genes, err := o.genesOf(ctx, p, m)
	if err != nil {
		return err
	}
	id, err := o.nextID(ctx, m.kind, p.after)
	if err != nil {
		return err
	}
	w := p.Cluster.Routes.Width()
	if m.bySequence {
		p.Job, err = job.NewBySequence(id, m.from, m.to, w, genes, p.by, m.Why, o.now())
	} else {
		p.Job, err = job.New(id, m.kind, m.from, m.to, w, genes, p.by, m.Why, o.now())
	}
	if err != nil {
		return err
	}
	p.Job.Throttle = m.Throttle
	return nil
}

// genesOf returns the genes that a move requests, if its source owns them and no other job moves them.
func (o *Ops) genesOf(ctx context.Context, p *Plan, m move) (gene.Set, error) {
	c := p.Cluster
	for _, name := range []router.ShardName{m.from, m.to} {
		if err := registered(c, name); err != nil {
			return gene.Set{}, err
		}
	}
	owned := c.Routes.GenesOf(m.from)
	if owned.Empty() {
		return gene.Set{}, fmt.Errorf("shard %s owns no genes; locus routes show lists the owners", m.from)
	}
	genes, err := m.choose(ctx, o, p, owned)
	if err != nil {
		return gene.Set{}, err
	}
	if others := genes.Subtract(owned); !others.Empty() {
		return gene.Set{}, fmt.Errorf("shard %s does not own genes %s; locus routes show lists the owners", m.from, others)
	}
	if moving := c.Routes.Moving().Intersect(genes); !moving.Empty() {
		return gene.Set{}, fmt.Errorf("another job moves genes %s; finish or abort it first; locus jobs lists it", moving)
	}
	return genes, nil
}

// registered returns an error unless a shard is registered.
func registered(c *cluster.Cluster, name router.ShardName) error {
	if _, there := c.Shards[name]; there {
		return nil
	}
	if name == "" {
		return invalid("no shard is named; there are %v", c.ShardNames())
	}
	return fmt.Errorf("shard %s is not registered; there are %v", name, c.ShardNames())
}

// nextID returns the ID of a new job. Jobs are numbered in the order of their planning, after the given number of jobs that are not
// written yet.
func (o *Ops) nextID(ctx context.Context, kind job.Kind, after int) (string, error) {
	list, err := o.jobs.IDs(ctx)
	if err != nil {
		return "", err
	}
	highest := 0
	for _, id := range list {
		if n, err := strconv.Atoi(id[strings.LastIndexByte(id, '-')+1:]); err == nil {
			highest = max(highest, n)
		}
	}
	return fmt.Sprintf("%s-%d", kind, highest+1+after), nil
}
