package histories

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"locus/config/etcd"
	"locus/config/etcd/embedded"
	"locus/control/declared"
	"locus/control/fleet"
	"locus/control/jobs"
	"locus/migrate"
	"locus/migrate/cutover"
	"locus/proxy"
	"locus/proxy/handshake"
	"locus/proxy/txn"
	"locus/router/cluster"
)

// child is what a process is told: that it is etcd, on a port, or else a proxy.
type child struct {
	Dir      string // etcd's data, or what all proxies prove themselves by
	Port     int
	Etcd     string // empty: it is etcd
	Password string
	Swapped  bool          // its steps read the position before they hold anything
	Patience time.Duration // with what fails, before a job is given up; 0: the default
	Hold     time.Duration // how long a statement is held at most; 0: the default
}

// lease is how long a process that is gone is still taken for alive.
const lease = 2 * time.Second

const prefix = "/locus/histories/"

// patient is how long a step may take whose order is swapped.
const patient = 6 * time.Second

func runChild(text string) error {
	var c child
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if c.Etcd == "" {
		return c.store(ctx)
	}
	return c.serve(ctx)
}

func (c child) store(ctx context.Context) error {
	server, err := embedded.Start(ctx, embedded.Config{Dir: c.Dir, Port: c.Port})
	if err != nil {
		return err
	}
	fmt.Println("serving", server.Endpoint())
	select {
	case <-ctx.Done():
		return server.Close()
	case err := <-server.Err():
		return err
	}
}

// serve wires a proxy and a mover, as cmd/locus does.
func (c child) serve(ctx context.Context) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	client, err := etcd.Open(etcd.Config{Endpoints: []string{c.Etcd}, RequestTimeout: 2 * time.Second, Log: log})
	if err != nil {
		return err
	}
	defer client.Close()
	kv := client.Under(prefix)
	identity, err := handshake.SelfSigned(c.Dir)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	name := listener.Addr().String()
	presence := kv.Presence(cluster.ProxyPrefix+name, card(name, 0), lease)
	secrets := func(string) (string, error) { return c.Password, nil }
	options := proxy.Options{
		Declared: kv.Under(cluster.Prefix), Segments: kv.Under(cluster.SegmentPrefix), Secrets: secrets,
		TLS: identity.TLS, RSA: identity.RSA, Name: name, Cluster: "histories", Spanning: txn.XA,
		RecoveryPatience: time.Second, DrainTimeout: time.Second, Log: log,
		Acknowledge: func(version int64) error { presence.Set(card(name, version)); return nil },
	}
	var p *proxy.Proxy
	options.Fence.Hold = c.Hold
	if c.Swapped {
		options.Fence.Hold = 2 * patient
	}
	options.Fence.Release = func(ctx context.Context, version int64) error { return declared.ReleaseFence(ctx, kv, version, name) }
	options.Fence.Leased = func() int64 {
		if since, held := presence.Held(); held && p.ReadAsOf(since) {
			return since
		}
		return 0
	}
	options.Alive = func(ctx context.Context) ([]string, error) { return fleet.Alive(ctx, kv) }
	store := jobs.New(kv, name, secrets)
	store.ClaimTTL = lease
	options.Applied = store.Applied
	options.Declarations = declared.Tables{KV: kv, Log: log}
	p = proxy.New(options)
	if err := p.Start(ctx); err != nil {
		return err
	}
	stops := listen(os.Stdin)
	mover := &migrate.Runner{Store: store, Name: name, Log: log, Times: migrate.Times{Look: time.Second, Patience: c.Patience}, Stop: stops.at}
	if c.Swapped {
		mover.Times.Within = patient // so that the step is not given up before it loses something
		mover.Arrange = func(e *cutover.Effects) { e.Fence, e.Position = e.Position, e.Fence }
	}
	var beside sync.WaitGroup
	defer beside.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	beside.Go(func() { _ = presence.Run(ctx) })
	beside.Go(func() { _ = mover.Run(ctx) })
	answerer := &fleet.Answerer{KV: kv, Presence: presence, ID: name, Log: log, Values: map[fleet.Question]func() any{
		fleet.Mirrored: func() any { return p.Mirrored() }, fleet.Outcomes: func() any { return p.Outcomes() },
	}}
	beside.Go(func() { _ = answerer.Run(ctx) })
	fmt.Println("serving", name)
	return p.Run(ctx, listener)
}

// card returns the card of a proxy that obeys a version of the map.
func card(id string, version int64) []byte {
	return fmt.Appendf(nil, `{"id": %q, "map_version": %d, "answers": true}`, id, version)
}

// stops are the stop points of a process: it is told on its input at which ones to
// stop next, once at each, says so on its output, and waits to be told to go on.
type stops struct {
	mu    sync.Mutex
	armed map[string]bool
	goOn  chan struct{}
}

func listen(input *os.File) *stops {
	s := &stops{goOn: make(chan struct{}, 1)}
	go func() {
		for lines := bufio.NewScanner(input); lines.Scan(); {
			if points, ok := strings.CutPrefix(lines.Text(), "stop "); ok {
				s.arm(strings.Fields(points))
				continue
			}
			s.goOn <- struct{}{}
		}
	}()
	return s
}

// arm forgets what it was told before, to go on where it did not stop as well.
func (s *stops) arm(points []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.goOn:
	default:
	}
	s.armed = map[string]bool{}
	for _, p := range points {
		s.armed[p] = true
	}
}

func (s *stops) at(point string) {
	s.mu.Lock()
	stop := s.armed[point]
	delete(s.armed, point)
	s.mu.Unlock()
	if stop {
		fmt.Println("at", point)
		<-s.goOn
	}
}
