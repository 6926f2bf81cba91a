package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"locus/control/ops"
	"locus/router"
)

func switchoverCommand(in *invocation) *cobra.Command {
	var to, take, by string
	var giveUp, without bool
	c := &cobra.Command{
		Use:   "switchover SHARD (--to HOST:PORT | --take HOST:PORT | --without-replicas)",
		Short: "Make another server of a shard its primary, while clients work",
		Long: `Make another server of a shard its primary, while clients work. Statements on the shard
are paused until the other server has applied everything from the primary, which becomes
read-only and follows. Obstacles are reported before anything is changed. If a step fails
before the other server is the primary, everything is undone. If this command is killed, a
process with the role mover undoes or finishes the switchover. If the command is repeated,
it repairs that state itself, and then continues.

With --take, the server becomes or stays the primary whatever the state of the others is:
for a lost primary, and if several servers accept writes. Servers that can be reached are
made read-only. A server that can't be reached must be lost, or other clients than locus
must be kept from it; it is made read-only once it is back. If the server lacks
transactions of others, these are listed and nothing is changed, unless --give-up is
given. Only semi-synchronous replication keeps the last transactions that a lost primary
has acknowledged.

With --without-replicas, the primary stays, and its commits no longer wait for replicas.
This is for a shard with failover: promote whose replicas are all down, so that writes
wait. Until enough replicas follow again, writes may be lost with the primary, which locus
doctor and the dashboard report. Then commits wait for replicas again.`,
		Example: `  locus switchover s0 --to 10.0.0.12:3306
  locus switchover s0 --without-replicas`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			switch {
			case without && to+take != "":
				return misused("--without-replicas: the primary stays what it is, without --to and --take")
			case !without && (to == "") == (take == ""):
				return misused("--to or --take: name one of the shard's servers, as host:port; or --without-replicas")
			case giveUp && take == "":
				return misused("--give-up: only with --take")
			}
			if by == "" {
				by = in.operator()
			}
			if err := in.confirm("%s", primaryQuestion(args[0], to, take, giveUp)); err != nil {
				return err
			}
			return in.withEtcd(func(conn *connection) error {
				change := primaryChange{in, in.opsOf(conn), router.ShardName(args[0]), by, slog.New(slog.NewTextHandler(in.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))}
				switch {
				case without:
					return change.goOn(command.Context())
				case take != "":
					return change.take(command.Context(), take, giveUp)
				}
				return change.to(command.Context(), to)
			})
		},
	}
	in.addYes(c)
	c.Flags().StringVar(&to, "to", "", "the `server` that is to be the primary")
	c.Flags().StringVar(&take, "take", "", "the `server` that is to be the primary, whatever the state of the others is")
	c.Flags().BoolVar(&giveUp, "give-up", false, "with --take: accept that transactions are lost which it lacks")
	c.Flags().BoolVar(&without, "without-replicas", false, "let commits not wait for replicas, until these follow again")
	c.Flags().StringVar(&by, "by", "", "the `name` of the person who requests it (default: you, on this host)")
	return c
}

// primaryQuestion returns the question before a change of a shard's primary.
func primaryQuestion(shard, to, take string, giveUp bool) string {
	switch {
	case to != "":
		return fmt.Sprintf("Shard %s: make %s its primary? Its statements wait during the switchover.", shard, to)
	case giveUp:
		return fmt.Sprintf("Shard %s: make %s its primary, and give up the transactions that it lacks?", shard, take)
	case take != "":
		return fmt.Sprintf("Shard %s: make %s its primary, whatever the state of the other servers?", shard, take)
	}
	return fmt.Sprintf("Shard %s: let its primary continue without replicas? Transactions that it acknowledges from then on may be lost with it.", shard)
}

// primaryChange holds the parameters of one call of the command.
type primaryChange struct {
	in    *invocation
	ops   *ops.Ops
	shard router.ShardName
	by    string
	log   *slog.Logger
}

func (p primaryChange) to(ctx context.Context, server string) error {
	held, err := p.ops.Switchover(ctx, ops.Switchover{Shard: p.shard, To: server}, p.by, p.log)
	if err == nil {
		fmt.Fprintf(p.in.stdout, "%s is the primary of shard %s; its statements were paused for %v\n", server, p.shard, held.Round(time.Millisecond))
	}
	return err
}

func (p primaryChange) take(ctx context.Context, server string, giveUp bool) error {
	err := p.ops.TakePrimary(ctx, ops.TakePrimary{Shard: p.shard, Server: server, GiveUp: giveUp}, p.by, p.log)
	if err == nil {
		fmt.Fprintf(p.in.stdout, "%s is the primary of shard %s\n", server, p.shard)
	}
	return err
}

func (p primaryChange) goOn(ctx context.Context) error {
	primary, err := p.ops.WithoutReplicas(ctx, ops.WithoutReplicas{Shard: p.shard}, p.by, p.log)
	if err == nil {
		fmt.Fprintf(p.in.stdout, "%s continues without replicas: transactions that it acknowledges may be lost with it, until as many follow again as it waits for\n", primary)
	}
	return err
}
