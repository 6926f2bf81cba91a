package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"locus/config/etcd"
	"locus/control/declared"
	"locus/control/fleet"
	"locus/control/jobs"
	"locus/migrate"
	"locus/proxy"
	"locus/proxy/handshake"
	"locus/proxy/txn"
	"locus/router/cluster"
)

// Lease is how long a proxy counts as alive after its last sign of life. It is short, so that tests need not wait for it.
const Lease = 2 * time.Second

// Prefix is where the cluster's documents are in etcd.
const Prefix = "/locus/test/"

// proxyRole is a proxy that also runs moves.
type proxyRole struct {
	Dir      string // of the certificate that all proxies present
	Etcd     string
	Cluster  string // its name in the names of transactions
	Password string // of all accounts
	Wiring   string // a change of the wiring; empty: none
	Patience time.Duration
	Hold     time.Duration
}

// Wiring is how a proxy's process is put together.
type Wiring struct {
	Proxy *proxy.Options
	Mover *migrate.Runner
}

// Change changes the wiring of a proxy's process, such as to break what a test must notice.
type Change func(*Wiring)

func (r proxyRole) run(ctx context.Context, changes map[string]Change) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	client, err := etcd.Open(etcd.Config{Endpoints: []string{r.Etcd}, RequestTimeout: 2 * time.Second, Log: log})
	if err != nil {
		return err
	}
	defer client.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	name := listener.Addr().String()
	kv := client.Under(Prefix)
	presence := kv.Presence(cluster.ProxyPrefix+name, Card(name, 0), Lease)
	var p *proxy.Proxy
	w, err := r.wire(kv, name, presence, log, func() *proxy.Proxy { return p })
	if err != nil {
		return err
	}
	stops := readStops(os.Stdin)
	w.Proxy.Stop, w.Mover.Stop = stops.at, stops.at
	if r.Wiring != "" {
		change, known := changes[r.Wiring]
		if !known {
			return fmt.Errorf("unknown wiring %q: pass it to cluster.Main", r.Wiring)
		}
		change(w)
	}
	p = proxy.New(*w.Proxy)
	if err := p.Start(ctx); err != nil {
		return err
	}
	var others sync.WaitGroup
	defer others.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	others.Go(func() { _ = presence.Run(ctx) })
	others.Go(func() { _ = w.Mover.Run(ctx) })
	answerer := &fleet.Answerer{KV: kv, Presence: presence, ID: name, Log: log, Values: map[fleet.Question]func() any{
		fleet.Mirrored: func() any { return p.Mirrored() }, fleet.Outcomes: func() any { return p.Outcomes() },
	}}
	others.Go(func() { _ = answerer.Run(ctx) })
	fmt.Println("serving", name)
	return p.Run(ctx, listener)
}

// wire wires a proxy and a mover as cmd/locus does. The function returns the proxy, which is made later.
func (r proxyRole) wire(kv *etcd.KV, name string, presence *etcd.Presence, log *slog.Logger, p func() *proxy.Proxy) (*Wiring, error) {
	identity, err := handshake.SelfSigned(r.Dir)
	if err != nil {
		return nil, err
	}
	secrets := func(string) (string, error) { return r.Password, nil }
	store := jobs.New(kv, name, secrets)
	store.ClaimTTL = Lease
	options := &proxy.Options{
		Declared: kv.Under(cluster.Prefix), Segments: kv.Under(cluster.SegmentPrefix), Secrets: secrets,
		TLS: identity.TLS, RSA: identity.RSA, Name: name, Cluster: r.Cluster, Spanning: txn.XA,
		RecoveryPatience: time.Second, DrainTimeout: time.Second, Log: log,
		Acknowledge:  func(version int64) error { presence.Set(Card(name, version)); return nil },
		Alive:        func(ctx context.Context) ([]string, error) { return fleet.Alive(ctx, kv) },
		Applied:      store.Applied,
		Declarations: declared.Tables{KV: kv, Log: log},
	}
	options.Fence.Hold = r.Hold
	options.Fence.Release = func(ctx context.Context, version int64) error { return declared.ReleaseFence(ctx, kv, version, name) }
	options.Fence.Leased = func() int64 {
		if since, held := presence.Held(); held && p().ReadAsOf(since) {
			return since
		}
		return 0
	}
	mover := &migrate.Runner{Store: store, Name: name, Log: log, Times: migrate.Times{Look: time.Second, Patience: r.Patience}}
	return &Wiring{Proxy: options, Mover: mover}, nil
}

// Card returns the card of a proxy that obeys a version of the map.
func Card(id string, version int64) []byte {
	return fmt.Appendf(nil, `{"id": %q, "map_version": %d, "answers": true}`, id, version)
}
