package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"locus/cmd/demo"
)

func demoCommand(in *invocation) *cobra.Command {
	o := demo.Default()
	command := &cobra.Command{
		Use:   "demo",
		Short: "Run everything on this machine: database servers, etcd, proxies, a shop",
		Long: `Run everything on this machine: database servers (MariaDB or MySQL, whichever is
installed), etcd, proxies, the sample schema, and a few orders per second. It prints
what to try, and stops everything on Ctrl-C. Started again with the same --data, it
continues with the existing data.`,
		Example: `  locus demo
  locus demo --engine mysql --shards 4 --proxies 2
  locus demo --replicas 1
  locus demo --data /tmp/shop --orders-per-second 0 --ready-file /tmp/shop.json`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := o.Validate(); err != nil {
				return usageError{err}
			}
			binary, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find this program, to run proxies: %w", err)
			}
			o.Binary, o.Out = binary, in.stdout
			return demo.Run(command.Context(), o)
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.Data, "data", o.Data, "the `directory` of all data")
	flags.StringVar((*string)(&o.Engine), "engine", "", "the `server`: mariadb or mysql (default: the directory's, or what is installed)")
	flags.IntVar(&o.Shards, "shards", o.Shards, "the `number` of shards that own genes, in equal ranges")
	flags.IntVar(&o.Spare, "spare", o.Spare, "the `number` of shards that are registered without genes")
	flags.IntVar(&o.Replicas, "replicas", o.Replicas, "the `number` of replicas of each shard; if a primary is killed, a replica is promoted")
	flags.IntVar(&o.Proxies, "proxies", o.Proxies, "the `number` of proxies, on the ports that follow --proxy")
	flags.StringVar(&o.Proxy, "proxy", o.Proxy, "`host:port` of the first proxy")
	flags.StringVar(&o.HTTP, "http", o.HTTP, "`host:port` of the dashboard; empty for none")
	flags.Float64Var(&o.OrdersPerSecond, "orders-per-second", o.OrdersPerSecond, "the `number` of orders per second; 0 leaves the tables empty")
	flags.StringVar(&o.ReadyFile, "ready-file", "", "a `file` for all addresses, as JSON, which is written once everything is ready")
	_ = command.RegisterFlagCompletionFunc("engine", cobra.FixedCompletions([]string{"mariadb", "mysql"}, cobra.ShellCompDirectiveNoFileComp))
	_ = command.MarkFlagDirname("data")
	return command
}
