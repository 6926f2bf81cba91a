package main

import (
	"context"
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
		Short: "Look at all that the cluster stands on, and say what mends what is wrong",
		Long: `Look at etcd (its members, room, clocks), the proxies (leases, versions of the map,
clocks, versions of keys), the moves under way, and on each shard at logins, clocks, versions, the
account's privileges, the settings of the binary log, whether commits last, room on the
disk and for connections, the declared tables, branches in doubt and what moves left behind. Nothing is changed.

The shards are asked directly, with the configuration's secrets; how many connections
a proxy may open is this configuration's, unless the shard says otherwise.

The exit status is 0 if all is well, and 1 if something was found.`,
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
	report, err := doctor.Examine(ctx, doctor.Options{
		Cluster: c, KV: conn.kv, Health: conn.client.Health, Jobs: in.jobsOf(conn),
		MaxConnections: conn.config.Backends.MaxConnectionsPerShard, XA: conn.config.Proxy.Transactions == config.XA,
		Now: time.Now, Pause: lookAgainAfter, // clocks are held to this machine's
	})
	if err != nil {
		return err
	}
	if err := in.show(report, func(w io.Writer) { printFound(w, report) }); err != nil {
		return err
	}
	if n := len(report.Findings); n > 0 {
		return fmt.Errorf("%d findings", n)
	}
	return nil
}

func printFound(w io.Writer, r doctor.Report) {
	for _, f := range r.Findings {
		fmt.Fprintf(w, "%s, %s: %s\n  mend: %s\n", f.Where, f.Check, f.What, f.Mend)
	}
	if r.Healthy {
		fmt.Fprintf(w, "all is well; looked at: etcd endpoints %d, proxies %d, shards %d\n", r.Etcd, r.Proxies, r.Shards)
	}
}
