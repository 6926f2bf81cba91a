package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"locus/control/fleet"
	"locus/control/ops"
	"locus/control/watch"
)

func topCommand(in *invocation) *cobra.Command {
	t := topping{in: in, every: 2 * time.Second, by: string(watch.ByLoad), most: 20}
	c := &cobra.Command{
		Use:   "top",
		Short: "Show what the running statements cost",
		Long: `Show by digest which statements run, what they cost and which fail. The command reads the
counters of all proxies repeatedly, and shows the differences. On a terminal the view is
updated: ? explains the keys, / filters, and Enter shows one statement by shard, user and
error, and over the last hour. With --once, or if standard output is no
terminal, it is printed once, with all figures and whole statements if it is no terminal.

The table locus.statements has the same figures since the start of the counters. --reset
resets the counters of all proxies.`,
		Example: `  locus top
  locus top --once --by p99 --top 5
  locus top --once -o json
  locus top --reset`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return t.run(command.Context()) },
	}
	f := c.Flags()
	f.BoolVar(&t.once, "once", false, "print once, and end")
	f.BoolVar(&t.reset, "reset", false, "reset the counters of all proxies")
	f.StringVar(&t.by, "by", t.by, "the `order`: load, rate, p99, errors, rows or total")
	f.DurationVar(&t.every, "every", t.every, "the `time` between two updates")
	f.IntVar(&t.most, "top", t.most, "the `number` of statements to print")
	_ = c.RegisterFlagCompletionFunc("by", cobra.FixedCompletions([]string{"load", "rate", "p99", "errors", "rows", "total"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

type topping struct {
	in          *invocation
	once, reset bool
	by          string
	every       time.Duration
	most        int
}

func (t *topping) run(ctx context.Context) error {
	switch {
	case !slices.Contains(watch.Orders, watch.Order(t.by)):
		return misused("--by %s: use load, rate, p99, errors, rows or total", t.by)
	case t.every < 200*time.Millisecond || t.every > time.Minute:
		return misused("--every %v: from 200ms to 1m", t.every)
	case t.most < 1:
		return misused("--top %d: at least 1", t.most)
	}
	return t.in.withEtcd(func(conn *connection) error {
		if t.reset {
			return t.begin(ctx, conn)
		}
		ask := func(ctx context.Context) (watch.Costs, error) {
			cost, err := fleet.StatementsOf(ctx, conn.kv, fleet.Top)
			if err == nil && cost.Proxies == 0 {
				err = ops.NoProxy(cost.Silent)
			}
			return watch.Costs(cost), err
		}
		if !t.once && t.in.output == table && isTerminal(t.in.stdin) && isTerminal(t.in.stdout) {
			if err := watch.TopScreen(ctx, ask, fleet.DetailsFrom(conn.kv), t.every, watch.Order(t.by), t.in.stdin, t.in.stdout); err != nil {
				return fmt.Errorf("top: %w", err)
			}
			return nil
		}
		top, err := watch.TopOnce(ctx, ask, t.every, watch.Order(t.by))
		if err != nil {
			return err
		}
		top.Statements = top.Statements[:min(t.most, len(top.Statements))]
		return t.in.show(top, func(w io.Writer) { _ = watch.WriteTop(w, top, widthOf(t.in.stdout), t.most) })
	})
}

// widthOf returns the width of a terminal in columns, and 0 for other outputs.
func widthOf(stream any) int {
	if file, ok := stream.(*os.File); ok {
		if width, _, err := term.GetSize(file.Fd()); err == nil {
			return width
		}
	}
	return 0
}

func (t *topping) begin(ctx context.Context, conn *connection) error {
	if err := fleet.Forget(ctx, conn.kv); err != nil {
		return err
	}
	return t.in.show(map[string]bool{"reset": true}, func(w io.Writer) { fmt.Fprintln(w, "the counters of all proxies are reset") })
}
