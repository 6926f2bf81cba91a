package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"locus/control/fleet"
	"locus/control/overview"
	"locus/control/watch"
	"locus/router/cluster"
)

func statusCommand(in *invocation) *cobra.Command {
	quick := false
	c := &cobra.Command{
		Use:   "status",
		Short: "Tell on one screen whether all is well",
		Long: `Tell on one screen whether all is well: etcd, the proxies, the shards as the
proxies see them, with the statements of one second, moves, and what locus doctor
finds. With --quick the shards and etcd's members are not asked, but the proxies
alone, which takes no secrets.

The exit status is 0 if all is well, and 1 if something is not, or could not be
found out.`,
		Example: `  locus status
  locus status --quick -o json`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return in.withCluster(command.Context(), func(conn *connection, c *cluster.Cluster) error {
				return in.status(command.Context(), conn, c, quick)
			})
		},
	}
	c.Flags().BoolVar(&quick, "quick", false, "ask the proxies alone")
	return c
}

// beatsApart is between the two looks that rates are made of.
const beatsApart = time.Second

// status is what status shows.
type status struct{ *overview.State }

func (in *invocation) status(ctx context.Context, conn *connection, c *cluster.Cluster, quick bool) error {
	seen := overview.Seen{Name: conn.config.Cluster, At: in.now(), Declared: c}
	var err error
	if seen.Before, err = fleet.Beats(ctx, conn.kv); err != nil {
		return err
	}
	next := time.After(beatsApart)
	if !quick {
		report, err := in.examine(ctx, conn, c)
		if err != nil {
			return err
		}
		seen.Findings, seen.Etcd = report.Findings, conn.client.Health(ctx)
	}
	if seen.Cards, err = fleet.Cards(ctx, conn.kv); err != nil {
		return err
	}
	if seen.Moves, _, err = (&watch.Watcher{Source: in.jobsOf(conn)}).Look(ctx); err != nil {
		return err
	}
	select {
	case <-next:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if seen.Now, err = fleet.Beats(ctx, conn.kv); err != nil {
		return err
	}
	s := &status{overview.Of(seen)}
	if err := in.show(s, s.print); err != nil {
		return err
	}
	if !s.Well {
		return errors.New(quantity(s.Problems, "thing") + " not well")
	}
	return nil
}

// reads tells whether reads that may be late go to a replica.
func reads(usable bool) string {
	if usable {
		return "yes"
	}
	return "no: it is too far behind, has stopped, or does not answer"
}

func (s *status) print(w io.Writer) {
	verdict := "all is well"
	if !s.Well {
		verdict = quantity(s.Problems, "thing") + " not well"
	}
	fmt.Fprintf(w, "cluster %s: %s\n", s.Cluster, verdict)
	r := s.Statements
	fmt.Fprintf(w, "%s statements/s, %s errors/s, p50 %s ms, p99 %s ms\n\n",
		watch.Rate(r.PerSecond), watch.Rate(r.Errors), watch.Rate(r.P50Ms), watch.Rate(r.P99Ms))
	rows := [][]string{{"SHARD", "ADDRESS", "GENES", "STATEMENTS/S", "ERRORS/S", "P50 MS", "P99 MS", "CONNECTIONS", "STATE"}}
	for _, sh := range s.Shards {
		rows = append(rows, []string{
			sh.Name, sh.Address, fmt.Sprintf("%.4g %%", sh.Genes), watch.Rate(sh.PerSecond), watch.Rate(sh.Errors), watch.Rate(sh.P50Ms), watch.Rate(sh.P99Ms),
			fmt.Sprintf("%d of %d", sh.InUse, sh.Limit), cmp.Or(sh.Problem, sh.State),
		})
	}
	columns(w, rows)
	rows = [][]string{{"\nREPLICA", "SHARD", "BEHIND", "READS"}}
	for _, sh := range s.Shards {
		for _, r := range sh.Replicas {
			rows = append(rows, []string{r.Address, sh.Name, (time.Duration(r.LagMs) * time.Millisecond).String(), reads(r.Usable)})
		}
	}
	if len(rows) > 1 {
		columns(w, rows)
	}
	rows = [][]string{{"\nPROXY", "ADDRESS", "SESSIONS", "MAP VERSION", "STATE"}}
	for _, p := range s.Proxies {
		rows = append(rows, []string{p.ID, p.Address, strconv.Itoa(p.Sessions), strconv.FormatInt(p.MapVersion, 10), cmp.Or(p.Problem, "well")})
	}
	if len(s.Proxies) == 0 {
		rows = append(rows, []string{"none lives: locus serve -c locus.yaml", "", "", "", ""})
	}
	columns(w, rows)
	if len(s.Etcd) > 0 {
		rows = [][]string{{"\nETCD", "STATE"}}
		for _, e := range s.Etcd {
			rows = append(rows, []string{e.Endpoint, cmp.Or(e.Problem, "well")})
		}
		columns(w, rows)
	}
	if len(s.Moves) > 0 {
		rows = [][]string{{"\nMOVE", "PHASE", "AT TARGET", "FROM", "TO", "STATE"}}
		for _, m := range s.Moves {
			rows = append(rows, []string{m.ID, string(m.Phase), watch.Percent(m.AtTarget), m.From, m.To, cmp.Or(m.Problem, "well")})
		}
		columns(w, rows)
	}
	if len(s.Findings) > 0 {
		fmt.Fprintln(w, "\ndoctor:")
	}
	for _, f := range s.Findings {
		fmt.Fprintf(w, "%s, %s: %s\n  remedy: %s\n", f.Where, f.Check, f.What, f.Remedy)
	}
}
