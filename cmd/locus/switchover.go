package main

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"locus/control/switchover"
	"locus/router"
)

func switchoverCommand(in *invocation) *cobra.Command {
	var to, by string
	c := &cobra.Command{
		Use:   "switchover SHARD --to HOST:PORT",
		Short: "Make another server of a shard its primary, while clients go on",
		Long: `Make another server of a shard its primary, while clients go on: statements on the
shard are held for as long as it takes the other server to have all that the primary
has, the primary is made read-only, and follows. What stands in the way is told before
anything is changed. If something fails before the other server is the primary,
everything is undone. If this command is killed, a process with the role mover undoes or
finishes what it left; given again, it mends that itself, and then does what it is told.`,
		Example: `  locus switchover s0 --to 10.0.0.12:3306`,
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if to == "" {
				return misused("--to: name one of the shard's servers, as host:port")
			}
			if by == "" {
				by = in.operator()
			}
			return in.withEtcd(func(conn *connection) error {
				held, err := switchover.Switchover{
					KV: conn.kv, Secrets: conn.config.Secrets.Lookup, Shard: router.ShardName(args[0]), To: to, By: by, Log: slog.New(slog.NewTextHandler(in.stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
				}.Run(command.Context())
				if err != nil {
					return err
				}
				fmt.Fprintf(in.stdout, "%s is the primary of shard %s; its statements were held for %v\n", to, args[0], held.Round(time.Millisecond))
				return nil
			})
		},
	}
	c.Flags().StringVar(&to, "to", "", "the `server` that is to be the primary")
	c.Flags().StringVar(&by, "by", "", "the `name` of who orders it (default: you, on this host)")
	return c
}
