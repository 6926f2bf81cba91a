package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"locus/cmd/jobs"
	"locus/migrate/job"
	"locus/migrate/preflight"
	"locus/router"
	"locus/router/cluster"
	"locus/router/gene"
)

// planning is what split and merge have in common.
type planning struct {
	in           *invocation
	kind         job.Kind
	from, to     string
	genes, why   string
	half, dryRun bool
	throttle     int
}

func splitCommand(in *invocation) *cobra.Command {
	p := &planning{in: in, kind: job.Split}
	var hottest string
	c := &cobra.Command{
		Use:   "split --from SHARD --to SHARD (--genes RANGES | --half)",
		Short: "Begin to move some of a shard's genes to another shard",
		Long: `Begin to move some of a shard's genes to another shard, while applications go on:
everything is copied and kept equal, and compared; then "locus cutover" hands the
genes over. Nothing that is served changes before that.`,
		Example: `  locus split --from s0 --to s2 --half
  locus split --from s0 --to s2 --genes 0x2000-0x3fff --dry-run`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if hottest != "" {
				return misused("--hottest needs the load of each gene, which proxies don't count yet: use --half, or --genes with ranges of your own")
			}
			return p.run(command.Context())
		},
	}
	p.flags(c)
	c.Flags().StringVar(&hottest, "hottest", "", "the `share` of the genes with most load: not there yet")
	c.Flags().StringVar(&p.genes, "genes", "", "the `ranges` of genes, like 0x2000-0x3fff,0x5000")
	c.Flags().BoolVar(&p.half, "half", false, "the upper half of the genes that the shard owns")
	c.MarkFlagsMutuallyExclusive("genes", "half", "hottest")
	c.MarkFlagsOneRequired("genes", "half", "hottest")
	return c
}

func mergeCommand(in *invocation) *cobra.Command {
	p := &planning{in: in, kind: job.Merge}
	c := &cobra.Command{
		Use:     "merge --from SHARD --into SHARD",
		Short:   "Begin to move all of a shard's genes to another shard",
		Example: `  locus merge --from s2 --into s0`,
		Args:    cobra.NoArgs,
		RunE:    func(command *cobra.Command, _ []string) error { return p.run(command.Context()) },
	}
	p.flags(c)
	return c
}

func (p *planning) flags(c *cobra.Command) {
	to := "to"
	if p.kind == job.Merge {
		to = "into"
	}
	f := c.Flags()
	f.StringVar(&p.from, "from", "", "the `shard` that owns the genes")
	f.StringVar(&p.to, to, "", "the `shard` that is to own them")
	f.BoolVar(&p.dryRun, "dry-run", false, "only say what would be done, and what stands in the way")
	f.IntVar(&p.throttle, "throttle", 0, "`percent` of the time that copying, comparing and deleting rest")
	f.StringVar(&p.why, "why", "", "the `reason`, for the journal and the map's history")
	_ = c.MarkFlagRequired("from")
	_ = c.MarkFlagRequired(to)
}

// run plans the job, and writes its record unless it is a dry run.
func (p *planning) run(ctx context.Context) error {
	conn, err := p.in.connect()
	if err != nil {
		return err
	}
	defer conn.close()
	state, err := conn.state(ctx)
	if err != nil {
		return err
	}
	if state.Cluster == nil {
		return cluster.ErrNotDeclared
	}
	store := jobs.New(conn.kv, p.in.operator(), conn.config.Secrets.Lookup)
	j, err := p.plan(ctx, state.Cluster, store)
	if err != nil {
		return err
	}
	if err := p.check(ctx, j, state.Cluster, store); err != nil {
		return err
	}
	if p.dryRun {
		return p.print(j, state.Cluster)
	}
	if err := store.Create(ctx, j); err != nil {
		return err
	}
	return p.in.show(j, func(w io.Writer) {
		fmt.Fprintf(w, "job %s: %s\n", j.ID, j.Journal[0].What)
		fmt.Fprintf(w, "locus watch %s shows it; once it is ready: locus cutover %s --to 100%% --step 5%% --every 1m\n", j.ID, j.ID)
	})
}

// plan makes the record.
func (p *planning) plan(ctx context.Context, c *cluster.Cluster, store *jobs.Store) (*job.Job, error) {
	from, to := router.ShardName(p.from), router.ShardName(p.to)
	for _, name := range []router.ShardName{from, to} {
		if _, there := c.Shards[name]; !there {
			return nil, fmt.Errorf("shard %s is not registered; there are %v", name, c.ShardNames())
		}
	}
	owned := c.Routes.GenesOf(from)
	if owned.Empty() {
		return nil, fmt.Errorf("shard %s owns no genes", from)
	}
	genes := owned
	switch {
	case p.half:
		genes = owned.Subtract(owned.First(owned.Len() / 2))
	case p.genes != "":
		var err error
		if genes, err = gene.ParseSet(p.genes, c.Routes.Width()); err != nil {
			return nil, misused("--genes: %v", err)
		}
	}
	if others := genes.Subtract(owned); !others.Empty() {
		return nil, fmt.Errorf("shard %s does not own genes %s: locus routes show tells who does", from, others)
	}
	if moving := c.Routes.Moving().Intersect(genes); !moving.Empty() {
		return nil, fmt.Errorf("another job moves genes %s: finish or abort it first; locus jobs shows it", moving)
	}
	id, err := nextID(ctx, store, p.kind)
	if err != nil {
		return nil, err
	}
	j, err := job.New(id, p.kind, from, to, c.Routes.Width(), genes, p.in.operator(), p.why, p.in.now())
	if err != nil {
		return nil, err
	}
	j.Throttle = p.throttle
	return j, j.Check()
}

// nextID numbers jobs in the order of their planning.
func nextID(ctx context.Context, store *jobs.Store, kind job.Kind) (string, error) {
	list, err := store.Jobs(ctx)
	if err != nil {
		return "", err
	}
	highest := 0
	for _, j := range list {
		for i := range j.ID {
			if n, err := strconv.Atoi(j.ID[i:]); err == nil && j.ID[i] != '-' {
				highest = max(highest, n)
				break
			}
		}
	}
	return fmt.Sprintf("%s-%d", kind, highest+1), nil
}

// check asks both shards for everything that stands in the way. Where the secrets
// to ask them aren't at hand, whoever runs the job does so before it begins.
func (p *planning) check(ctx context.Context, j *job.Job, c *cluster.Cluster, store *jobs.Store) error {
	source, sourceErr := store.Shard(ctx, j.From)
	target, targetErr := store.Shard(ctx, j.To)
	switch err := errors.Join(sourceErr, targetErr); {
	case err != nil && p.dryRun:
		return fmt.Errorf("%w\nwithout these secrets the shards can't be asked: -c names the configuration that says where they are", err)
	case err != nil:
		return nil
	}
	report, err := preflight.Look(ctx, preflight.Config{Source: source, Target: target, Tables: jobs.Sharded(c), Width: j.Width, Genes: j.Genes})
	if err == nil && len(report.Problems) > 0 {
		return &refusal{report.Problems}
	}
	return err
}

// print is the dry run.
func (p *planning) print(j *job.Job, c *cluster.Cluster) error {
	after, err := c.Routes.With(router.Change{Genes: j.Genes, To: j.To})
	if err != nil {
		return err
	}
	return p.in.show(j, func(w io.Writer) {
		fmt.Fprintf(w, "nothing stands in the way of: %s\n", j.Journal[0].What)
		fmt.Fprintln(w, "it would")
		for _, line := range []string{
			"announce the move in the route map, and wait until every proxy knows it",
			"copy the rows of these genes while the binary log is followed",
			"compare both shards, and keep comparing",
			"wait for locus cutover: each step holds statements on its genes, waits until the target has all, and hands them over",
			"keep the source equal, so that locus rollback goes back at any time",
			"delete the source's rows after locus finish",
		} {
			fmt.Fprintln(w, "  "+line)
		}
		fmt.Fprintf(w, "the route map at the end:\n%s", after)
	})
}

// refusal is everything that stands in a move's way.
type refusal struct{ problems []preflight.Problem }

func (r *refusal) Error() string {
	text := ""
	for i, p := range r.problems {
		if i > 0 {
			text += "\n"
		}
		text += p.String()
	}
	return text
}
