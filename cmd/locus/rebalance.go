package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"locus/control/jobs"
	"locus/control/watch"
	"locus/idgen/gene"
	"locus/migrate/job"
	"locus/migrate/link"
	"locus/router"
	"locus/router/balance"
	"locus/router/cluster"
)

// rebalancing is what rebalance was told.
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
		Short: "Propose moves that make the shards even, and begin them",
		Long: `Propose moves after which no shard has much more than an equal part, and begin
them. By load that are the statements of the last minutes, as all proxies have
counted them; by rows what the shards' servers estimate of their tables. Every
registered shard takes part, one without genes too, unless --onto names some.
Each move is a job of its own: nothing that is served changes before "locus
cutover".`,
		Example: `  locus rebalance --dry-run
  locus rebalance --by rows --onto s0,s1,s2 --yes`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if b.by != "load" && b.by != "rows" {
				return misused("--by %q: use load or rows", b.by)
			}
			return b.run(command.Context())
		},
	}
	f := c.Flags()
	f.StringVar(&b.by, "by", "load", "the `measure` that is made even: load or rows")
	f.StringSliceVar(&b.onto, "onto", nil, "the `shards` that are to share it; all of them if left out")
	f.Var(&b.tolerance, "tolerance", "how much more than an equal part a shard may have")
	f.BoolVar(&b.dryRun, "dry-run", false, "print what would be done and what stands in the way; write nothing")
	b.in.addYes(c)
	f.IntVar(&b.throttle, "throttle", 0, "`percent` of the time that copying, comparing and deleting rest")
	f.StringVar(&b.why, "why", "", "the `reason`, for the journals and the map's history")
	return c
}

// proposal is what rebalance shows.
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
	return b.in.withCluster(ctx, func(conn *connection, c *cluster.Cluster) error { return b.propose(ctx, conn, c) })
}

func (b *rebalancing) propose(ctx context.Context, conn *connection, c *cluster.Cluster) error {
	store := b.in.jobsOf(conn)
	shards, err := b.shards(c)
	if err != nil {
		return err
	}
	p := &proposal{By: b.by, Moves: []moveProposal{}}
	weight, err := b.weigh(ctx, conn, c, store, p)
	if err != nil {
		return err
	}
	moves, err := balance.Rebalance(c.Routes, shards, weight, float64(b.tolerance)/100)
	if errors.Is(err, balance.ErrNoWeight) {
		return fmt.Errorf("there is nothing to make even by %s: %w", b.by, err)
	}
	if err != nil {
		return err
	}
	p.fill(c, shards, weight, moves)
	return b.begin(ctx, c, store, p, moves)
}

func (b *rebalancing) shards(c *cluster.Cluster) ([]router.ShardName, error) {
	if b.onto == nil {
		return c.ShardNames(), nil
	}
	var names []router.ShardName
	for _, text := range b.onto {
		name := router.ShardName(strings.TrimSpace(text))
		if _, there := c.Shards[name]; !there {
			return nil, fmt.Errorf("shard %s is not registered; there are %v", name, c.ShardNames())
		}
		names = append(names, name)
	}
	return names, nil
}

// weigh finds out what genes weigh.
func (b *rebalancing) weigh(ctx context.Context, conn *connection, c *cluster.Cluster, store *jobs.Store, p *proposal) (balance.Weight, error) {
	if b.by == "load" {
		loads, err := measure(ctx, conn.kv, c.Routes.Width())
		if err != nil {
			return nil, err
		}
		p.unit, p.told = "STATEMENTS/S", loads.whose()
		return loads.At, nil
	}
	p.unit, p.told = "ROWS", "as the shards' servers estimate them, spread evenly over each shard's genes"
	perGene := map[router.ShardName]float64{}
	for _, name := range c.ShardNames() {
		genes := c.Routes.GenesOf(name).Len()
		if genes == 0 {
			continue
		}
		rows, err := estimate(ctx, store, c, name)
		if err != nil {
			return nil, fmt.Errorf("estimate the rows on %s: %w", name, err)
		}
		perGene[name] = rows / float64(genes)
	}
	return func(g gene.Gene) float64 { return perGene[c.Routes.Shard(c.Routes.Lookup(g))] }, nil
}

// estimate is about how many rows a shard has of the tables whose rows have genes.
func estimate(ctx context.Context, store *jobs.Store, c *cluster.Cluster, name router.ShardName) (float64, error) {
	server, err := store.Shard(ctx, name)
	if err != nil {
		return 0, err
	}
	conn, err := link.Dial(ctx, server)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	total := 0.0
	for t := range jobs.Sharded(c) {
		rows, err := conn.Query(ctx, "SELECT IFNULL(TABLE_ROWS, 0) FROM information_schema.TABLES WHERE TABLE_SCHEMA = "+
			link.Text(t.Schema)+" AND TABLE_NAME = "+link.Text(t.Name))
		if err != nil {
			return 0, err
		}
		for _, r := range rows {
			n, err := strconv.ParseFloat(string(r[0]), 64)
			if err != nil {
				return 0, err
			}
			total += n
		}
	}
	return total, nil
}

func (p *proposal) fill(c *cluster.Cluster, shards []router.ShardName, weight balance.Weight, moves []balance.Move) {
	for _, name := range shards {
		genes := c.Routes.GenesOf(name)
		s := shardProposal{Name: name, Genes: genes.Len(), Weight: weightOf(genes, weight)}
		s.After, s.Then = s.Genes, s.Weight
		for _, v := range moves {
			switch name {
			case v.From:
				s.After, s.Then = s.After-v.Genes.Len(), s.Then-v.Weight
			case v.To:
				s.After, s.Then = s.After+v.Genes.Len(), s.Then+v.Weight
			}
		}
		p.Shards = append(p.Shards, s)
	}
	for _, v := range moves {
		p.Moves = append(p.Moves, moveProposal{v.From, v.To, v.Genes.String(), v.Genes.Len(), v.Weight})
	}
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

// begin checks the moves, and writes their records unless it is a dry run.
func (b *rebalancing) begin(ctx context.Context, c *cluster.Cluster, store *jobs.Store, p *proposal, moves []balance.Move) error {
	var planned []*planning
	var records []*job.Job
	for i, v := range moves {
		plan := &planning{
			in: b.in, kind: job.Rebalance, from: string(v.From), to: string(v.To), genes: v.Genes.String(),
			why: b.why, dryRun: b.dryRun, throttle: b.throttle, after: i,
		}
		j, err := plan.plan(ctx, c, store, nil)
		if err != nil {
			return err
		}
		if err := plan.check(ctx, j, c, store); err != nil {
			return fmt.Errorf("from %s to %s: %w", v.From, v.To, err)
		}
		planned, records = append(planned, plan), append(records, j)
	}
	if b.dryRun || len(planned) == 0 {
		return b.in.show(p, p.print)
	}
	if !b.in.yes && b.in.output == table {
		p.print(b.in.stdout)
	}
	if err := b.in.confirm("Begin %s?", quantity(len(records), "move")); err != nil {
		return err
	}
	for _, j := range records {
		if err := store.Create(ctx, j); err != nil {
			return errors.Join(err, fmt.Errorf("these moves have begun: %v", p.Jobs))
		}
		p.Jobs = append(p.Jobs, j.ID)
	}
	return b.in.show(p, func(w io.Writer) {
		if b.in.yes {
			p.print(w)
		}
		for _, j := range records {
			fmt.Fprintf(w, "job %s: %s\n", j.ID, j.Journal[0].What)
		}
		fmt.Fprintln(w, "locus watch shows them; once one is ready: locus cutover JOB --to 100% --step 5% --every 1m")
	})
}
