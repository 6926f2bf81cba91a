package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locus/config"
	"locus/config/etcd"
	"locus/control/fleet"
	"locus/control/ops"
	"locus/router/cluster"
)

func proxiesCommand(in *invocation) *cobra.Command {
	group := groupCommand("proxies", "List the processes, drain or evict one")
	group.AddCommand(&cobra.Command{
		Use: "list", Short: "List the live processes, with their roles and map versions",
		Example: "  locus proxies list\n  locus proxies list -o json", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return in.withCluster(command.Context(), func(conn *connection, c *cluster.Cluster) error {
				return in.listProxies(command.Context(), conn.kv, c.Routes.Version())
			})
		},
	}, in.stopping(stopping{
		order: fleet.Drain, short: "Stop a process after its statements and transactions have ended",
		long: `Stop a process as SIGTERM does: /readyz returns 503, the port stays open for
proxy.drain_delay (5s), so that load balancers notice it, and then closes. Running
statements and transactions may end within proxy.drain_timeout, and the process exits
with status 0. The command prints the progress, and waits until the process has ended.
The service manager may start it again. PROXY is an ID of locus proxies list, its host
and port, or its address.`,
		ask: "Proxy %s: let its clients go, and stop it?",
	}), in.stopping(stopping{
		order: fleet.Evict, short: "Stop a process at once, and end its statements and transactions",
		long: `Stop a process at once: its statements are ended on the shards, and its transactions are
rolled back. Use it for a proxy that delays a cut-over. A dead process needs no eviction,
because its lease expires after ten seconds. PROXY is an ID of locus proxies list, its
host and port, or its address.`,
		ask: "Proxy %s: end its statements, and roll its transactions back?",
	}))
	return group
}

type proxyView struct {
	fleet.Card
	Behind int64 `json:"behind"`
}

func (in *invocation) listProxies(ctx context.Context, kv *etcd.KV, version int64) error {
	cards, err := fleet.Processes(ctx, kv)
	if err != nil {
		return err
	}
	views := []proxyView{}
	rows := [][]string{{"PROXY", "ADDRESS", "ROLES", "MAP VERSION", "BEHIND", "BUILD", "PID", "SINCE"}}
	for _, c := range cards {
		if len(c.Roles) == 0 {
			c.Roles = config.Tasks()
		}
		v, obeys, behind := proxyView{Card: c}, "-", "-"
		if c.Proxies() {
			v.Behind = max(0, version-c.MapVersion)
			obeys, behind = strconv.FormatInt(c.MapVersion, 10), strconv.FormatInt(v.Behind, 10)
		}
		views = append(views, v)
		rows = append(rows, []string{c.ID, orDash(c.Addr), roles(c.Roles), obeys, behind, c.Version, strconv.Itoa(c.PID), stamped(c.Started)})
	}
	return in.show(views, func(w io.Writer) { columns(w, rows) })
}

func roles(tasks []config.Task) string {
	names := make([]string, len(tasks))
	for i, t := range tasks {
		names[i] = string(t)
	}
	return strings.Join(names, ",")
}

// stopping is a command that makes a proxy stop.
type stopping struct {
	order            fleet.Order
	short, long, ask string
	patience         time.Duration
	dryRun           bool
}

func (in *invocation) stopping(s stopping) *cobra.Command {
	c := &cobra.Command{
		Use: string(s.order) + " PROXY", Short: s.short, Long: s.long, Example: "  locus proxies " + string(s.order) + " db-proxy-1:4306",
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return in.withEtcd(func(conn *connection) error { return in.stopProxy(command.Context(), conn, args[0], s) })
		},
	}
	f := c.Flags()
	f.DurationVar(&s.patience, "wait", time.Minute, "the `time` to wait until the process has ended; 0s: not at all")
	f.BoolVar(&s.dryRun, "dry-run", false, "print what would be done; write nothing")
	in.addYes(c)
	return c
}

// stopped is the output of such a command.
type stopped struct {
	Proxy   string      `json:"proxy"`
	Order   fleet.Order `json:"order"`
	Told    bool        `json:"told"`
	Stopped bool        `json:"stopped"`
}

func (in *invocation) stopProxy(ctx context.Context, conn *connection, name string, s stopping) error {
	o := in.opsOf(conn)
	l, err := o.PlanLeaving(ctx, name)
	if err != nil {
		return err
	}
	id := l.Process.ID
	if s.dryRun {
		return in.show(stopped{Proxy: id, Order: s.order}, func(w io.Writer) {
			fmt.Fprintf(w, "proxy %s would be requested to %s; %d others run\n", id, s.order, l.Others)
		})
	}
	question := s.ask
	if l.IsLastProxy() {
		question = "Proxy %s is the only one, so that applications have none without it: stop it?"
	}
	if err := in.confirm(question, id); err != nil {
		return err
	}
	if s.order == fleet.Drain {
		_, err = o.Drain(ctx, ops.Drain{Process: id, Last: l.IsLastProxy()}, in.operator())
	} else {
		_, err = o.Evict(ctx, ops.Evict{Process: id, Last: l.IsLastProxy()}, in.operator())
	}
	if err != nil {
		return err
	}
	if s.patience > 0 {
		if err := o.AwaitGone(ctx, id, s.patience, in.drainProgress(conn.kv, l.Process, s.order)); err != nil {
			return err
		}
	}
	return in.show(stopped{id, s.order, true, s.patience > 0}, func(w io.Writer) {
		if s.patience > 0 {
			fmt.Fprintf(w, "proxy %s has stopped\n", id)
		} else {
			fmt.Fprintf(w, "proxy %s was requested to %s\n", id, s.order)
		}
	})
}

// progressEvery bounds the age of the numbers in a progress line, and the wait for a process's answer.
const progressEvery = time.Second

// drainProgress returns a function that prints how far the process has drained, if that has changed since the last call. It does nothing
// for other commands, and for processes that have no clients or answer no questions.
func (in *invocation) drainProgress(kv *etcd.KV, c fleet.Card, order fleet.Order) func(ctx context.Context) {
	if order != fleet.Drain || !c.Answers || !c.Proxies() {
		return func(context.Context) {}
	}
	last := ""
	return func(ctx context.Context) {
		beats, err := fleet.BeatsLately(ctx, kv, progressEvery, progressEvery)
		beat, is := beats.By[c.ID]
		if err != nil || !is || !beat.Draining || beat.DrainingSince.IsZero() {
			return
		}
		if line := fleet.Drained(beat.DrainingSince, beat.PortCloses, in.now(), beat.Sessions); line != last {
			last = line
			fmt.Fprintf(in.stderr, "proxy %s: %s\n", c.ID, line)
		}
	}
}
