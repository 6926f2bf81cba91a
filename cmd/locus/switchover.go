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
		Short: "Make another server of a shard its primary, while clients go on",
		Long: `Make another server of a shard its primary, while clients go on: statements on the
shard are held for as long as it takes the other server to have all that the primary
has, the primary is made read-only, and follows. What stands in the way is told before
anything is changed. If something fails before the other server is the primary,
everything is undone. If this command is killed, a process with the role mover undoes or
finishes what it left; given again, it mends that itself, and then does what it is told.

With --take the server becomes the primary, or stays it, whatever there is of the
others: for a primary that is lost, and where several servers take writes. Those that can
be reached are made read-only. One that can't be reached must be lost, or be kept from
clients that don't come by locus: it is made read-only once it is back. What the server
lacks of what others have is listed, and nothing is changed then, unless --give-up is
given. What a primary that is lost has acknowledged last, only semi-synchronous replication
keeps.

With --without-replicas the primary stays what it is, and no commit waits for a replica any
more: for a shard with failover: promote whose replicas are all away, so that its writes wait.
What is written until as many replicas follow again as it waits for may be lost with the
primary, which locus doctor and the page tell. Then commits wait again, by themselves.`,
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
	c.Flags().StringVar(&take, "take", "", "the `server` that is to be the primary, whatever there is of the others")
	c.Flags().BoolVar(&giveUp, "give-up", false, "with --take: leave transactions behind that it lacks")
	c.Flags().BoolVar(&without, "without-replicas", false, "have the primary go on without replicas, until they follow again")
	c.Flags().StringVar(&by, "by", "", "the `name` of who orders it (default: you, on this host)")
	return c
}

// primaryQuestion returns the question before a change of a shard's primary.
func primaryQuestion(shard, to, take string, giveUp bool) string {
	switch {
	case to != "":
		return fmt.Sprintf("Shard %s: make %s its primary? Its statements wait meanwhile.", shard, to)
	case giveUp:
		return fmt.Sprintf("Shard %s: make %s its primary, and give up the transactions that it lacks?", shard, take)
	case take != "":
		return fmt.Sprintf("Shard %s: make %s its primary, whatever state the other servers are in?", shard, take)
	}
	return fmt.Sprintf("Shard %s: let its primary go on without replicas? What it acknowledges from then on may be lost with it.", shard)
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
		fmt.Fprintf(p.in.stdout, "%s is the primary of shard %s; its statements were held for %v\n", server, p.shard, held.Round(time.Millisecond))
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
		fmt.Fprintf(p.in.stdout, "%s goes on without replicas: what it acknowledges may be lost with it, until as many follow again as it waits for\n", primary)
	}
	return err
}
