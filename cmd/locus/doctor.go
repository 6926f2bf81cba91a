package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"locus/config"
	"locus/control/doctor"
	"locus/control/finding"
	"locus/control/overview"
	"locus/router/cluster"
)

func doctorCommand(in *invocation) *cobra.Command {
	c := &cobra.Command{
		Use:   "doctor",
		Short: "List all findings of the cluster, each with its severity and remedy",
		Long: `List all findings of the cluster, each with its severity and remedy: what the
processes report at any moment (etcd, proxies, servers, primaries, jobs), and what
only a check finds: etcd's quota and clocks, key versions, users, and on each shard
logins, clocks, versions, the account's privileges, the settings of the binary log,
durability of commits, free disk space, connections, the declared tables, branches
in doubt and what jobs left behind. Nothing is changed.

An outage means that statements of clients fail, wait or miss rows now. At risk
means that one more failure, or time, leads to an outage or to lost data. Advice
means that all works and something could be better.

The shards are asked directly, with the configuration's secrets; how many connections
a proxy may open is this configuration's, unless the shard says otherwise.

` + exitStatuses,
		Example: `  locus doctor -c locus.yaml
  locus doctor -o json
  locus doctor --fail-on at-risk`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return in.withCluster(command.Context(), func(conn *connection, c *cluster.Cluster) error {
				return in.doctor(command.Context(), conn, c)
			})
		},
	}
	in.addFailOn(c)
	return c
}

// lookAgainAfter is the time in which a temporary problem must pass.
const lookAgainAfter = 2 * time.Second

// diagnosis is the output of locus doctor.
type diagnosis struct {
	Healthy bool `json:"healthy"`
	finding.Summary
	Etcd     int               `json:"etcd_endpoints"`
	Proxies  int               `json:"proxies"`
	Shards   int               `json:"shards"`
	Findings []finding.Finding `json:"findings"`
}

func (in *invocation) doctor(ctx context.Context, conn *connection, c *cluster.Cluster) error {
	seen, err := in.see(ctx, conn, c, everything)
	if err != nil {
		return err
	}
	s, r := overview.Of(seen), seen.Report
	d := diagnosis{s.Healthy(), s.Summary, r.Etcd, r.Proxies, r.Shards, s.Findings}
	if err := in.show(d, func(w io.Writer) { in.printDiagnosis(w, d) }); err != nil {
		return err
	}
	return in.judged(d.Summary)
}

func (in *invocation) examine(ctx context.Context, conn *connection, c *cluster.Cluster) (doctor.Report, error) {
	return doctor.Examine(ctx, doctor.Options{
		Cluster: c, KV: conn.kv, Health: conn.client.Health, Jobs: in.jobsOf(conn), Secrets: conn.config.Secrets.Lookup,
		MaxConnections: conn.config.Backends.MaxConnectionsPerShard, XA: conn.config.Proxy.Transactions == config.XA,
		Now: time.Now, Pause: lookAgainAfter, // the reference for all clocks is this machine's
	})
}

func (in *invocation) printDiagnosis(w io.Writer, d diagnosis) {
	in.printFindings(w, d.Findings)
	verdict := d.Summary.String()
	if len(d.Findings) == 0 {
		verdict = "no findings"
	}
	fmt.Fprintf(w, "%s; checked: %s, %s, %s\n", in.paint(d.Severity, verdict),
		quantity(d.Etcd, "etcd endpoint"), quantity(d.Proxies, "process"), quantity(d.Shards, "shard"))
}
