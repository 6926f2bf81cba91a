package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"locus/config/etcd"
	"locus/control/declared"
	"locus/control/fleet"
	"locus/control/jobs"
	"locus/control/ops"
	"locus/control/switchover"
	"locus/control/virtual"
	"locus/internal/test/servers"
	"locus/migrate"
	"locus/proxy"
	"locus/proxy/handshake"
	"locus/proxy/txn"
	"locus/router"
	"locus/router/cluster"
)

// Lease is how long a proxy counts as alive after its last sign of life. It is short, so that tests need not wait for it.
const Lease = 2 * time.Second

// Prefix is where the cluster's documents are in etcd.
const Prefix = "/locus/test/"

// proxyRole is a proxy that also runs moves.
type proxyRole struct {
	Dir      string // directory of the certificate that all proxies present
	Etcd     string
	Cluster  string // the cluster's name in the names of transactions
	Wiring   string // a change of the wiring; empty: none
	Patience time.Duration
	Hold     time.Duration
}

// Wiring is how a proxy's process is put together.
type Wiring struct {
	Proxy   *proxy.Options
	Mover   *migrate.Runner // nil: it runs no moves
	Answers map[fleet.Question]func() any
}

// Change changes the wiring of a proxy's process, for example to break a property that a test must check.
type Change func(*Wiring)

func (r proxyRole) run(ctx context.Context, changes map[string]Change) error {
	change, known := changes[r.Wiring]
	if r.Wiring != "" && !known {
		return fmt.Errorf("unknown wiring %q: pass it to cluster.Main", r.Wiring)
	}
	log := newLog(os.Stderr)
	client, err := etcd.Open(etcd.Config{Endpoints: []string{r.Etcd}, RequestTimeout: 2 * time.Second, Log: log})
	if err != nil {
		return err
	}
	defer client.Close()
	stops := readStops(os.Stdin)
	n, err := r.open(client.Under(Prefix), Lease, log, func(w *Wiring) {
		w.Proxy.Stop, w.Mover.Stop = stops.at, stops.at
		if known {
			change(w)
		}
	})
	if err != nil {
		return err
	}
	return n.run(ctx, func() { fmt.Println("serving", n.name) })
}

func newLog(to io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// node is a proxy that is wired and listens, with the tasks that run in addition to it.
type node struct {
	Wiring
	proxy    *proxy.Proxy
	name     string // its address
	listener net.Listener
	kv       *etcd.KV
	presence *etcd.Presence
	shows    *fleet.Showing
	log      *slog.Logger
}

func (r proxyRole) open(kv *etcd.KV, lease time.Duration, log *slog.Logger, change Change) (*node, error) {
	identity, err := handshake.SelfSigned(r.Dir)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	n := &node{name: listener.Addr().String(), listener: listener, kv: kv, log: log}
	card := fleet.Card{ID: n.name, Leases: true, Answers: true}
	n.presence = kv.Presence(cluster.ProxyPrefix+n.name, card.Text(), lease)
	n.shows = fleet.Show(card, n.presence.Set)
	n.Wiring = r.wire(n, identity)
	change(&n.Wiring)
	n.proxy = proxy.New(*n.Proxy)
	return n, nil
}

// wire wires a proxy and a mover as cmd/locus does.
func (r proxyRole) wire(n *node, identity *handshake.Identity) Wiring {
	secrets := func(string) (string, error) { return servers.Password, nil }
	store := jobs.New(n.kv, n.name, secrets)
	store.ClaimTTL = Lease
	options := &proxy.Options{
		Declared: n.kv.Under(cluster.Prefix), Segments: n.kv.Under(cluster.SegmentPrefix), Secrets: secrets,
		TLS: identity.TLS, RSA: identity.RSA, Name: n.name, Cluster: r.Cluster, Spanning: txn.XA,
		RecoveryPatience: time.Second, DrainTimeout: time.Second, Log: n.log,
		Acknowledge: func(version int64) error {
			n.shows.Change(func(c *fleet.Card) { c.MapVersion = version })
			return nil
		},
		AcknowledgePrimaries: func(epochs map[router.ShardName]int64) {
			n.shows.Change(func(c *fleet.Card) { c.Primaries = epochs })
		},
		Alive:        func(ctx context.Context) ([]string, error) { return fleet.Alive(ctx, n.kv) },
		Applied:      store.Applied,
		Declarations: declared.NewTables(n.kv, n.log),
		Procedures:   virtual.NewProcedures(ops.New(ops.Config{KV: n.kv, Jobs: store, Secrets: secrets, Now: time.Now})),
		Crashed:      (&switchover.Crashed{Declared: func() *cluster.Cluster { return n.proxy.Declared() }, Secrets: secrets, Log: n.log}).End,
		Fence:        n.fence(r.Hold),
	}
	return Wiring{
		Proxy: options,
		Mover: &migrate.Runner{Store: store, Name: n.name, Log: n.log, Times: migrate.Times{Look: time.Second, Patience: r.Patience}},
		Answers: map[fleet.Question]func() any{
			fleet.Mirrored: func() any { return n.proxy.Mirrored() },
			fleet.Outcomes: func() any { return n.proxy.Outcomes() },
			fleet.Servers:  func() any { return n.proxy.Servers() },
		},
	}
}

// fence configures the fences. With hold, a step that waits for a transaction for too long fails and is repeated, instead of rolling
// the transaction back. Two transactions can make a step wait: one that runs on the genes waits for a row lock of another one, which
// is held by the fence.
func (n *node) fence(hold time.Duration) proxy.Fence {
	return proxy.Fence{
		Hold: hold, Patience: hold,
		Release: func(ctx context.Context, version int64) error {
			return declared.ReleaseFence(ctx, n.kv, version, n.name)
		},
		ReleasePrimary: func(ctx context.Context, shard router.ShardName, epoch int64) error {
			return declared.ReleasePrimary(ctx, n.kv, shard, epoch, n.name)
		},
		Epochs: func(ctx context.Context) (map[router.ShardName]int64, error) { return declared.Epochs(ctx, n.kv) },
		Leased: func() int64 {
			if since, held := n.presence.Held(); held && n.proxy.ReadAsOf(since) {
				return since
			}
			return 0
		},
	}
}

// run starts the proxy, calls serving, and runs everything until ctx ends.
func (n *node) run(ctx context.Context, serving func()) error {
	if err := n.proxy.Start(ctx); err != nil {
		return errors.Join(err, n.listener.Close())
	}
	var others sync.WaitGroup
	defer others.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	others.Go(func() { _ = n.presence.Run(ctx) })
	if n.Mover != nil {
		others.Go(func() { _ = n.Mover.Run(ctx) })
	}
	answerer := &fleet.Answerer{KV: n.kv, Presence: n.presence, ID: n.name, Log: n.log, Values: n.Answers}
	others.Go(func() { _ = answerer.Run(ctx) })
	serving()
	return n.proxy.Run(ctx, n.listener)
}
