package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"locus/control/declared"
	"locus/control/doctor"
	"locus/control/fleet"
	"locus/control/overview"
	"locus/control/watch"
	"locus/router/cluster"
)

func statusCommand(in *invocation) *cobra.Command {
	quick := false
	c := &cobra.Command{
		Use:   "status",
		Short: "Show on one screen whether the cluster is healthy",
		Long: `Show on one screen whether the cluster is healthy: etcd, the proxies, the shards
as the proxies see them, with the statements of one second, jobs, and all findings
of locus doctor. With --quick only the proxies are queried, which takes no secrets:
the findings about shards are those of the latest report that a process has kept.

` + exitStatuses,
		Example: `  locus status
  locus status --quick -o json`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return in.withCluster(command.Context(), func(conn *connection, c *cluster.Cluster) error {
				ask := everything
				if quick {
					ask = proxiesAlone
				}
				return in.status(command.Context(), conn, c, ask)
			})
		},
	}
	in.addFailOn(c)
	c.Flags().BoolVar(&quick, "quick", false, "ask the proxies alone")
	return c
}

// beatsApart is the time between the two queries from which rates are computed.
const beatsApart = time.Second

// status is the output of locus status.
type status struct {
	*overview.State
	in *invocation
}

// asking contains the questions about the state of the cluster.
type asking int

const (
	everything   asking = iota
	latest              // use the latest report about the shards instead of querying them
	proxiesAlone        // and not etcd's members
)

// see queries the cluster for status and doctor.
func (in *invocation) see(ctx context.Context, conn *connection, c *cluster.Cluster, ask asking) (overview.Seen, error) {
	seen := overview.Seen{Name: conn.config.Cluster, Earlier: c}
	var err error
	if seen.Before, err = fleet.Beats(ctx, conn.kv); err != nil {
		return seen, err
	}
	next := time.After(beatsApart)
	var report doctor.Report
	if ask == everything {
		if report, err = in.examine(ctx, conn, c); err != nil {
			return seen, err
		}
	}
	if ask != proxiesAlone {
		seen.Etcd = conn.client.Health(ctx)
	}
	if seen.Moves, _, err = (&watch.Watcher{Source: in.jobsOf(conn)}).Look(ctx); err != nil {
		return seen, err
	}
	select {
	case <-next:
	case <-ctx.Done():
		return seen, context.Cause(ctx)
	}
	if seen.Now, err = fleet.Beats(ctx, conn.kv); err != nil {
		return seen, err
	}
	if seen.Cards, err = fleet.Cards(ctx, conn.kv); err != nil {
		return seen, err
	}
	if seen.Notes, err = overview.ReadNotes(ctx, conn.kv, time.Now()); err != nil {
		return seen, err
	}
	if seen.Declared, err = declared.Current(ctx, conn.kv); err != nil {
		return seen, err
	}
	seen.At = in.now()
	if ask == everything {
		seen.Report = report
	}
	seen.Findings = seen.Report.Findings
	return seen, nil
}

func (in *invocation) status(ctx context.Context, conn *connection, c *cluster.Cluster, ask asking) error {
	seen, err := in.see(ctx, conn, c, ask)
	if err != nil {
		return err
	}
	s := &status{overview.Of(seen), in}
	if err := in.show(s, s.print); err != nil {
		return err
	}
	return in.judged(s.Summary)
}

// reads returns whether a replica serves reads that may be late, as a text.
func reads(usable bool) string {
	if usable {
		return "yes"
	}
	return "no: it is too far behind, has stopped, or does not answer"
}

func (s *status) print(w io.Writer) {
	fmt.Fprintf(w, "cluster %s: %s\n", s.Cluster, s.in.paint(s.Severity, s.Summary.String()))
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
		rows = append(rows, []string{p.ID, p.Address, strconv.Itoa(p.Sessions), strconv.FormatInt(p.MapVersion, 10), proxyState(p)})
	}
	if len(s.Proxies) == 0 {
		rows = append(rows, []string{"none is alive: locus serve -c locus.yaml", "", "", "", ""})
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
		fmt.Fprintln(w, "\nfindings:")
	}
	s.in.printFindings(w, s.Findings)
}

// proxyState returns how a proxy is, in a word or a sentence.
func proxyState(p overview.Proxy) string {
	if p.Draining {
		return cmp.Or(p.Problem, "draining")
	}
	return cmp.Or(p.Problem, "well")
}
