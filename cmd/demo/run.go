package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"locus/cmd/dbserver"
	"locus/config/etcd"
	"locus/config/etcd/embedded"
	"locus/control/declared"
	"locus/idgen/gene"
	"locus/router"
)

// Run runs a demo until ctx ends. It returns after everything that it started has ended. The data is kept. An error is the
// error of a failed start or stop.
func Run(ctx context.Context, o Options) error {
	if err := errors.Join(o.Validate(), gene.CheckGolden()); err != nil {
		return err
	}
	o.Out = &lines{to: o.Out}
	r := &running{options: o}
	err := r.start(ctx)
	if err == nil {
		<-ctx.Done()
		fmt.Fprintln(o.Out, "\nstopping")
	}
	stopErr := r.stop()
	if ctx.Err() != nil {
		err = nil // the demo was stopped during its start
	}
	if err = errors.Join(err, stopErr); err == nil && r.dir != nil {
		fmt.Fprintf(o.Out, "stopped; the data is kept in %s\n", r.dir.path)
	}
	return err
}

// running holds the parts of a demo that have been started.
type running struct {
	options Options
	dir     *directory
	etcd    *embedded.Server
	shards  []*shard
	proxies []*proxyProcess
	first   router.ShardName // a shard that owns genes
	spare   router.ShardName // a shard without genes; empty if there is none

	undo []func() error // in the order in which the parts were started
}

func (r *running) onStop(f func() error) { r.undo = append(r.undo, f) }

// stop undoes the start in reverse.
func (r *running) stop() error {
	var errs []error
	for i := len(r.undo) - 1; i >= 0; i-- {
		errs = append(errs, r.undo[i]())
	}
	return errors.Join(errs...)
}

// lines is a writer that several goroutines may use.
type lines struct {
	mu sync.Mutex
	to io.Writer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(b)
}

func (r *running) say(format string, args ...any) { fmt.Fprintf(r.options.Out, format+"\n", args...) }

// start starts all parts. After an error, undo contains the parts that were started before it.
func (r *running) start(ctx context.Context) (err error) {
	o := r.options
	if r.dir, err = openDirectory(o.Data); err != nil {
		return err
	}
	r.onStop(r.dir.close)
	if err := errors.Join(o.checkPorts(), removeReady(o.ReadyFile)); err != nil {
		return err
	}
	kv, err := r.startEtcd(ctx)
	if err != nil {
		return err
	}
	if err := r.startDatabases(ctx, kv); err != nil {
		return err
	}
	password, err := r.startProxies(ctx)
	if err != nil {
		return err
	}
	state, err := r.state(password)
	if err != nil {
		return err
	}
	r.watch()
	if err := r.awaitPrimaries(ctx, password); err != nil {
		return err
	}
	if o.OrdersPerSecond > 0 {
		r.startOrders(ctx, password)
	}
	if o.ReadyFile != "" {
		if err := state.write(o.ReadyFile); err != nil {
			return fmt.Errorf("--ready-file: %w", err)
		}
		r.onStop(func() error { return removeReady(o.ReadyFile) })
	}
	return r.hints(state)
}

func (r *running) startEtcd(ctx context.Context) (*etcd.KV, error) {
	server, err := embedded.Start(ctx, embedded.Config{Dir: r.dir.file("etcd")})
	if err != nil {
		return nil, err
	}
	r.etcd = server
	r.onStop(server.Close)
	client, err := etcd.Open(etcd.Config{Endpoints: []string{server.Endpoint()}})
	if err != nil {
		return nil, err
	}
	r.onStop(client.Close)
	return client.Under(prefix()), nil
}

func (r *running) startDatabases(ctx context.Context, kv *etcd.KV) error {
	engine, err := r.dir.engine(r.options.Engine, func(e dbserver.Engine) error {
		_, err := dbserver.Find(ctx, e, "")
		return err
	})
	if err != nil {
		return err
	}
	state, err := declared.Read(ctx, kv)
	if err != nil {
		return err
	}
	owning, spare := r.dir.names(r.options, state.Cluster)
	if len(owning) > 0 && len(spare) > 0 {
		r.first, r.spare = owning[0], spare[0]
	}
	names, following := append(owning[:len(owning):len(owning)], spare...), replicas(r.options, state.Cluster)
	servers := 0
	for _, name := range names {
		servers += 1 + following(name)
	}
	if o := r.options; state.Cluster != nil && (len(owning) != o.Shards || len(spare) != o.Spare || servers != len(names)*(1+o.Replicas)) {
		r.say("%s has %d shards with genes and %d without, and %d servers: --shards, --spare and --replicas are for a new directory", r.dir.path, len(owning), len(spare), servers)
	}
	r.say("starting %d %s servers in %s", servers, engine, r.dir.path)
	r.shards, err = r.dir.startShards(ctx, engine, names, following)
	r.onStop(func() error { return stopShards(context.WithoutCancel(ctx), r.shards) })
	if err != nil {
		return err
	}
	if state.Cluster == nil {
		for _, s := range r.shards {
			if len(s.replicas) == 0 {
				continue
			}
			if err := r.dir.replicate(ctx, s); err != nil {
				return fmt.Errorf("shard %s: %w", s.name, err)
			}
		}
		if err := createTables(ctx, r.shards); err != nil {
			return err
		}
	}
	return declareShards(ctx, kv, state, owning, spare, r.shards)
}

// startProxies starts the proxies, waits until they serve, and returns the password of their user.
func (r *running) startProxies(ctx context.Context) (password string, err error) {
	if password, err = r.dir.secret(userSecret, func() string { return "app" }); err != nil {
		return "", err
	}
	for _, name := range []string{dbaSecret, httpSecret, viewerSecret} {
		if _, err := r.dir.secret(name, random); err != nil {
			return "", err
		}
	}
	keyRing, err := r.dir.keyRing()
	if err != nil {
		return "", err
	}
	r.proxies, err = r.dir.startProxies(r.options, r.etcd.Endpoint(), keyRing)
	r.onStop(func() error { return stopProxies(context.WithoutCancel(ctx), r.proxies) })
	if err != nil {
		return "", err
	}
	return password, awaitProxies(ctx, r.proxies, password)
}

func (r *running) startOrders(ctx context.Context, password string) {
	ctx, stop := context.WithCancel(ctx)
	t := &trickle{password: password, perSecond: r.options.OrdersPerSecond, out: r.options.Out}
	for _, p := range r.proxies {
		t.addrs = append(t.addrs, p.addr)
	}
	var task sync.WaitGroup
	task.Go(func() { t.run(ctx) })
	r.onStop(func() error { stop(); task.Wait(); return nil })
}
