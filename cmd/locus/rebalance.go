package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"locus/control/ops"
	"locus/control/watch"
	"locus/router"
	"locus/router/cluster"
)

// rebalancing holds the parameters of one call of the command.
type rebalancing struct {
	in        *invocation
	by        string
	onto      []string
	tolerance share
	dryRun    bool
	why       string
	throttle  int
}

func rebalanceCommand(in *invocation) *cobra.Command {
	b := &rebalancing{in: in, tolerance: 10}
	c := &cobra.Command{
		Use:   "rebalance [--by load|rows]",
		Short: "Propose jobs that balance the shards, and start them",
		Long: `Propose jobs after which no shard has much more than an equal part, and start them. The
load is the number of statements in the last minutes, as all proxies have counted them.
The number of rows is an estimate of the shards' servers. All registered shards take
part, also those without genes, unless --onto names some. Each move is a separate job,
and nothing changes for clients before "locus cutover".`,
		Example: `  locus rebalance --dry-run
  locus rebalance --by rows --onto s0,s1,s2 --yes`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return b.run(command.Context())
		},
	}
	f := c.Flags()
	f.StringVar(&b.by, "by", "load", "the `measure` to balance: load or rows")
	f.StringSliceVar(&b.onto, "onto", nil, "the `shards` that take part; by default all of them")
	f.Var(&b.tolerance, "tolerance", "how much more than an equal part a shard may have")
	f.BoolVar(&b.dryRun, "dry-run", false, "print what would be done and what prevents it; write nothing")
	b.in.addYes(c)
	f.IntVar(&b.throttle, "throttle", 0, "the `percent` of the time for which copying, comparing and deleting pause")
	f.StringVar(&b.why, "why", "", "the `reason`, for the journals and the map's history")
	return c
}

// proposal is the output of the command.
type proposal struct {
	By     string          `json:"by"`
	Shards []shardProposal `json:"shards"`
	Moves  []moveProposal  `json:"moves"`
	Jobs   []string        `json:"jobs,omitempty"`
	unit   string
	told   string
}

type shardProposal struct {
	Name   router.ShardName `json:"name"`
	Genes  int              `json:"genes"`
	After  int              `json:"genes_after"`
	Weight float64          `json:"weight"`
	Then   float64          `json:"weight_after"`
}

type moveProposal struct {
	From   router.ShardName `json:"from"`
	To     router.ShardName `json:"to"`
	Genes  string           `json:"genes"`
	Count  int              `json:"gene_count"`
	Weight float64          `json:"weight"`
}

func (b *rebalancing) run(ctx context.Context) error {
	r := ops.Rebalance{By: b.by, TolerancePercent: new(float64(b.tolerance)), Starting: ops.Starting{Throttle: b.throttle, Why: b.why}}
	for _, name := range b.onto {
		r.Onto = append(r.Onto, router.ShardName(strings.TrimSpace(name)))
	}
	if err := r.Check(); err != nil {
		return err
	}
	return b.in.withCluster(ctx, func(conn *connection, _ *cluster.Cluster) error {
		o := b.in.opsOf(conn)
		planned, err := o.PlanRebalance(ctx, r, b.in.operator())
		if err != nil {
			return err
		}
		return b.begin(ctx, o, planned)
	})
}

// propose returns the output for a rebalancing.
func propose(by string, r *ops.Rebalancing) *proposal {
	p := &proposal{By: by, Moves: []moveProposal{}, unit: "ROWS", told: "as the shards' servers estimate them, spread evenly over each shard's genes"}
	if r.Load != nil {
		p.unit, p.told = "STATEMENTS/S", whose(r.Load)
	}
	p.fill(r)
	return p
}

func (p *proposal) fill(r *ops.Rebalancing) {
	for _, part := range ops.PartsOf(r.Cluster.Routes, r.Shards, r.Weight, r.Moves) {
		p.Shards = append(p.Shards, shardProposal{part.Shard, part.Genes, part.After, part.Weight, part.Later})
	}
	for _, v := range r.Moves {
		p.Moves = append(p.Moves, moveProposal{v.From, v.To, v.Genes.String(), v.Genes.Len(), v.Weight})
	}
}

func (p *proposal) print(w io.Writer) {
	all := 0.0
	for _, s := range p.Shards {
		all += s.Weight
	}
	rows := [][]string{{"SHARD", "GENES", "AFTER", p.unit, "SHARE", "AFTER", "SHARE"}}
	for _, s := range p.Shards {
		rows = append(rows, []string{
			string(s.Name), strconv.Itoa(s.Genes), strconv.Itoa(s.After), watch.Rate(s.Weight), part(s.Weight, all), watch.Rate(s.Then), part(s.Then, all),
		})
	}
	columns(w, rows)
	fmt.Fprintf(w, "%s: %s\n", strings.ToLower(p.unit), p.told)
	if len(p.Moves) == 0 {
		fmt.Fprintln(w, "no shard has much more than an equal part: there is nothing to move")
		return
	}
	for _, v := range p.Moves {
		fmt.Fprintf(w, "%s from %s to %s, with %s of it: %s\n", quantity(v.Count, "gene"), v.From, v.To, part(v.Weight, all), v.Genes)
	}
}

// begin writes the records of the jobs, unless it is a dry run. A dry run fails if the shards could not be
// checked.
func (b *rebalancing) begin(ctx context.Context, o *ops.Ops, planned *ops.Rebalancing) error {
	p := propose(b.by, planned)
	if b.dryRun {
		for _, plan := range planned.Plans {
			if err := uncheckedOf(plan); err != nil {
				return fmt.Errorf("from %s to %s: %w", plan.Job.From, plan.Job.To, err)
			}
		}
	}
	if b.dryRun || len(planned.Plans) == 0 {
		return b.in.show(p, p.print)
	}
	if !b.in.yes && b.in.output == table {
		p.print(b.in.stdout)
	}
	if err := b.in.confirm("Begin %s?", quantity(len(planned.Plans), "move")); err != nil {
		return err
	}
	started, err := o.StartRebalance(ctx, planned)
	if err != nil {
		return err
	}
	for _, j := range started {
		p.Jobs = append(p.Jobs, j.ID)
	}
	return b.in.show(p, func(w io.Writer) {
		if b.in.yes {
			p.print(w)
		}
		for _, j := range started {
			fmt.Fprintf(w, "job %s: %s\n", j.ID, j.Journal[0].What)
		}
		fmt.Fprintln(w, "locus watch shows them; once one is ready: locus cutover JOB --to 100% --step 5% --every 1m")
	})
}
