package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"locus/config"
	"locus/control/doctor"
	"locus/router/cluster"
)

func doctorCommand(in *invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check etcd, the processes, the moves and every shard, with a remedy for each finding",
		Long: `Check etcd (members, quota, clocks), the processes (leases, map versions, clocks, key
versions), the moves, and on each shard logins, clocks, versions, the account's
privileges, the settings of the binary log, durability of commits, free disk space,
connections, the declared tables, branches in doubt and what moves left behind.
Nothing is changed.

The shards are asked directly, with the configuration's secrets; how many connections
a proxy may open is this configuration's, unless the shard says otherwise.

The exit status is 0 without findings, and 1 with any.`,
		Example: `  locus doctor -c locus.yaml
  locus doctor -o json`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return in.withCluster(command.Context(), func(conn *connection, c *cluster.Cluster) error {
				return in.doctor(command.Context(), conn, c)
			})
		},
	}
}

// lookAgainAfter is how long what may just be under way is given to pass.
const lookAgainAfter = 2 * time.Second

func (in *invocation) doctor(ctx context.Context, conn *connection, c *cluster.Cluster) error {
	report, err := in.examine(ctx, conn, c)
	if err != nil {
		return err
	}
	if err := in.show(report, func(w io.Writer) { printFound(w, report) }); err != nil {
		return err
	}
	if n := len(report.Findings); n > 0 {
		return errors.New(quantity(n, "finding"))
	}
	return nil
}

func (in *invocation) examine(ctx context.Context, conn *connection, c *cluster.Cluster) (doctor.Report, error) {
	return doctor.Examine(ctx, doctor.Options{
		Cluster: c, KV: conn.kv, Health: conn.client.Health, Jobs: in.jobsOf(conn), Secrets: conn.config.Secrets.Lookup,
		MaxConnections: conn.config.Backends.MaxConnectionsPerShard, XA: conn.config.Proxy.Transactions == config.XA,
		Now: time.Now, Pause: lookAgainAfter, // clocks are held to this machine's
	})
}

func printFound(w io.Writer, r doctor.Report) {
	for _, f := range r.Findings {
		fmt.Fprintf(w, "%s, %s: %s\n  remedy: %s\n", f.Where, f.Check, f.What, f.Remedy)
	}
	if r.Healthy {
		fmt.Fprintf(w, "no findings; checked: %s, %s, %s\n",
			quantity(r.Etcd, "etcd endpoint"), quantity(r.Proxies, "process"), quantity(r.Shards, "shard"))
	}
}
