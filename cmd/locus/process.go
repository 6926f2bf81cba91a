package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"locus/config"
	"locus/config/etcd"
	"locus/control/console"
	"locus/control/declared"
	"locus/control/events"
	"locus/control/failover"
	"locus/control/fleet"
	"locus/control/generators"
	"locus/control/jobs"
	"locus/control/keyring"
	"locus/control/ops"
	"locus/control/switchover"
	"locus/control/tracing"
	"locus/control/virtual"
	"locus/migrate"
	"locus/proxy"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// process holds the parts of one `locus serve`.
type process struct {
	*connection
	in    *invocation
	log   *slog.Logger
	level *slog.LevelVar
	shown *certificates
	stop  func() // stops the process, as SIGTERM does

	ports    ports
	card     fleet.Card // the card at the start; shows publishes later changes
	shows    *fleet.Showing
	keys     *keyring.Keys
	presence *etcd.Presence
	store    *jobs.Store
	spans    *tracing.Spans
	numbers  *generators.Set
	api      *generators.API // serves the generators over HTTP
	ops      *ops.Ops
	proxy    *proxy.Proxy
	servers  *failover.Runner // movers run it
	timeline *events.Recorder
	told     atomic.Pointer[string] // who requested the stop; nil: it was a signal
	evict    func()                 // makes the proxy stop without waiting for transactions
}

// introduce builds the card by which other processes know this one.
func (p *process) introduce() (err error) {
	p.card = newCard(p.config, p.ports.addr(), p.in.now())
	p.keys, err = keyring.Open(keyring.Options{
		File: p.config.KeyRing, KV: p.kv, By: p.card.ID, Log: p.log, Now: p.in.now,
		Show:  func(k fleet.Keys) { p.shows.Change(func(c *fleet.Card) { c.Keys = &k }) },
		Stamp: func(ctx context.Context, version uint32) error { return p.proxy.StampWith(ctx, version) },
	})
	if err != nil {
		return err
	}
	keys := p.keys.Status()
	p.card.Keys = &keys
	p.presence = p.kv.Presence(p.card.Key(), p.card.Text(), presenceTTL)
	p.shows = fleet.Show(p.card, p.presence.Set)
	p.store = jobs.New(p.kv, p.card.ID, p.config.Secrets.Lookup)
	return nil
}

// register publishes the card, and then checks that this process can read the IDs that other processes generate. Package
// keyring explains this order. If it can't, register undoes its own steps.
func (p *process) register(ctx context.Context) (leave func(), err error) {
	present, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	membership := fleet.Membership{KV: p.kv, Card: p.card, Log: p.log}
	running.Go(func() { _ = membership.Run(present) })
	running.Go(func() { _ = p.presence.Run(present) }) // the log and the health checks report an unreachable etcd
	leave = func() {
		cancel()
		running.Wait()
		membership.Leave(context.WithoutCancel(ctx), p.proxy.Status().Stopping.Since, time.Now())
	}
	switch err = p.begin(ctx); {
	case errors.Is(err, keyring.ErrAway):
		p.log.Warn("rows are not stamped until etcd answers", slog.Any("error", err))
	case err != nil:
		leave()
		return nil, err
	}
	return leave, nil
}

func (p *process) begin(ctx context.Context) error {
	if p.proxy.Status().Live.Away != nil {
		return keyring.ErrAway
	}
	ctx, cancel := context.WithTimeout(ctx, registerPatience)
	defer cancel()
	select {
	case <-p.presence.Known():
	case <-ctx.Done():
		return keyring.ErrAway
	}
	return p.keys.Begin(ctx, p.config.Does(config.ProxyTask) && p.proxy.HidesIDs())
}

// registerPatience bounds the wait for etcd when a process registers.
const registerPatience = 5 * time.Second

// start creates the proxy and the console after the cluster has been read.
func (p *process) start(ctx context.Context) (*console.Console, error) {
	options, err := proxyOptions(p.connection, p.shown, p.keys.Ring, p.log)
	if err != nil {
		return nil, err
	}
	accounts := httpAccounts(p.config)
	if err := checkAccounts(accounts); err != nil {
		return nil, err
	}
	p.join(&options)
	p.proxy = proxy.New(options)
	if err := p.proxy.Start(ctx); err != nil {
		return nil, fmt.Errorf("read the cluster %s: %w", p.config.Cluster, err)
	}
	p.servers = &failover.Runner{
		KV: p.kv, Secrets: p.config.Secrets.Lookup, Declared: p.proxy.Declared, Name: p.card.ID, Log: p.log,
	}
	p.log.Info("serving", slog.String("addr", p.card.Addr), slog.String("cluster", p.config.Cluster), slog.Int("pid", os.Getpid()))
	p.api = generators.Handler(p.numbers, p.proxy.Declared)
	return console.New(console.Options{
		Proxy: p.proxy, Cluster: shared{p.store, p.in, p.connection}, Operations: p.ops, Self: p.card, Name: p.config.Cluster,
		IDs: given(p.config, p.api), Open: p.openCounts(), Accounts: accounts,
		Secure: p.config.HTTP.TLS.Cert != "", Version: buildVersion().Version, Traced: p.spans.Counts, Keys: p.keys.Status, Watched: p.servers.Watched, Events: p.timeline.Counts, Outages: p.recordOutages(),
	}), nil
}

// join sets the proxy's options that involve other processes.
func (p *process) join(o *proxy.Options) {
	hurry := make(chan struct{})
	o.Hurry, p.evict = hurry, sync.OnceFunc(func() { close(hurry) })
	o.Name, o.Tracer, o.Generators, o.CounterStore = p.card.ID, p.spans.Tracer(), p.numbers, p.numbers.CounterStore
	p.numbers.HideBy(p.keys.Ring)
	if p.ports.clients == nil {
		o.Name = cluster.NoProxy
	} else {
		o.Acknowledge = func(version int64) error {
			p.shows.Change(func(c *fleet.Card) { c.MapVersion = version })
			return nil
		}
	}
	if o.Acknowledge != nil {
		o.AcknowledgePrimaries = func(epochs map[router.ShardName]int64) {
			p.shows.Change(func(c *fleet.Card) { c.Primaries = epochs })
		}
	}
	findings := p.in.found(p.connection, latest)
	p.ops = ops.New(ops.Config{
		KV: p.kv, Jobs: p.store, Secrets: p.config.Secrets.Lookup, Connect: p.config.Backends.ConnectTimeout.Std(), Now: time.Now, Findings: findings,
	})
	o.Virtual, o.Procedures = virtual.New(p.kv, p.store, findings), virtual.NewProcedures(p.ops)
	o.Applied = p.store.Applied
	o.Declarations, o.Made = declared.NewTables(p.kv, p.log), p.recordDefinition
	announcer := &fleet.Announcer{KV: p.kv, ID: p.card.ID}
	o.Redefined, o.Settled, o.Renumbered = announcer.Redefined, announcer.Settled, announcer.Renumbered
	o.Verified = fleet.Schemas{KV: p.kv}
	o.Renames = declared.Renames{KV: p.kv, Log: p.log}
	o.Alive = func(ctx context.Context) ([]string, error) { return fleet.Alive(ctx, p.kv) }
	o.Crashed = (&switchover.Crashed{Declared: func() *cluster.Cluster { return p.proxy.Declared() }, Secrets: p.config.Secrets.Lookup, Log: p.log}).End
	o.Fence.Release = func(ctx context.Context, version int64) error {
		return declared.ReleaseFence(ctx, p.kv, version, p.card.ID)
	}
	o.Fence.ReleasePrimary = func(ctx context.Context, shard router.ShardName, epoch int64) error {
		return declared.ReleasePrimary(ctx, p.kv, shard, epoch, p.card.ID)
	}
	if o.Acknowledge != nil {
		o.Fence.Epochs = func(ctx context.Context) (map[router.ShardName]int64, error) { return declared.Epochs(ctx, p.kv) }
	}
	o.Fence.Leased = func() int64 { // the lease is valid, and the map is not older than it
		if since, held := p.presence.Held(); held && p.proxy.ReadAsOf(since) {
			return since
		}
		return 0
	}
}

// beside returns the tasks that run in addition to the proxy. They depend on the roles.
func (p *process) beside(page *console.Console, hangups <-chan os.Signal) []func(context.Context) error {
	again := &reloader{load: p.in.configuration, current: *p.config, log: p.log, level: p.level, certificates: p.shown, proxy: p.proxy, keys: p.keys}
	list := []func(context.Context) error{
		p.keys.Run, p.obey,
		func(ctx context.Context) error { return again.run(ctx, hangups) },
	}
	if p.ports.page != nil {
		list = append(list, page.Run)
	}
	if p.ports.ids != nil {
		list = append(list, p.serveIDs)
	}
	list = append(list, p.answerer().Run)
	if p.config.Does(config.ProxyTask) {
		list = append(list, func(ctx context.Context) error {
			p.proxy.Reread() // the tables may have changed since they were read
			return p.following(fleet.Redefined, p.proxy.RereadChanged).Run(ctx)
		}, p.following(fleet.Settled, p.proxy.Settle).Run, p.following(fleet.Renumbered, p.proxy.Renumber).Run, p.recordErrors, p.killer().Run)
	}
	if p.config.Does(config.MoverTask) {
		mover := &migrate.Runner{Store: p.store, Name: p.card.ID, Log: p.log, Stepped: p.spans.Stepped}
		census := &fleet.Census{KV: p.kv, By: p.card.ID, Log: p.log}
		list = append(list, mover.Run, p.servers.Run, census.Run)
	}
	return list
}

// openCounts returns the counts of the port for numbers without a login; nil if the process does not have it.
func (p *process) openCounts() func() generators.OpenCounts {
	if p.ports.ids == nil {
		return nil
	}
	return p.api.OpenCounts
}

// serveIDs serves numbers to clients without a login.
func (p *process) serveIDs(ctx context.Context) error {
	networks, err := p.config.IDs.Networks()
	if err == nil {
		err = serveHTTP(ctx, p.api.WithoutLogin(networks, p.config.IDs.Snowflake), p.ports.ids)
	}
	if err != nil {
		p.log.Error("numbers without a login are not served", slog.Any("error", err))
		p.stop()
	}
	return err
}

// obey executes the requests of `locus proxies`.
func (p *process) obey(ctx context.Context) error {
	return fleet.Obey(ctx, p.kv, p.card.ID, func(o fleet.Order, by string) {
		p.log.Info("stop requested", slog.String("order", string(o)), slog.String("by", by))
		p.told.Store(&by)
		if o == fleet.Evict {
			p.evict()
		}
		p.stop()
	})
}

// killer ends the proxy's sessions on request.
func (p *process) killer() *fleet.Killer {
	return &fleet.Killer{KV: p.kv, ID: p.card.ID, Now: time.Now, Log: p.log, Kill: func(ctx context.Context, k fleet.Kill) error {
		return p.proxy.KillSession(ctx, k.Session, k.Statement)
	}}
}

// following makes the proxy follow the definitions of all processes.
func (p *process) following(q fleet.Question, follow func(context.Context, catalog.Change) error) *fleet.Follower {
	return &fleet.Follower{KV: p.kv, Presence: p.presence, ID: p.card.ID, Question: q, Follow: follow, Log: p.log}
}

// answerer answers the questions of other processes.
func (p *process) answerer() *fleet.Answerer {
	values := map[fleet.Question]func() any{fleet.Space: func() any { return fleet.DiskOf(p.config.DataDir) }}
	about := map[fleet.Question]func(string) any{}
	if p.config.Does(config.ProxyTask) {
		maps.Copy(values, p.counted())
		about[fleet.Digest] = func(subject string) any { return fleet.DigestTold(p.proxy.Statements(), subject) }
	}
	return &fleet.Answerer{KV: p.kv, Presence: p.presence, ID: p.card.ID, Log: p.log, Values: values, About: about}
}

// counted returns the answers about the proxy's counters.
func (p *process) counted() map[fleet.Question]func() any {
	return map[fleet.Question]func() any{
		fleet.Load:     func() any { return p.proxy.Load() },
		fleet.Outcomes: func() any { return p.proxy.Outcomes() },
		fleet.Mirrored: func() any { return p.proxy.Mirrored() },
		fleet.Clock:    func() any { return time.Now().UTC() },
		fleet.Slow:     func() any { return p.proxy.Slow().Digests() },
		fleet.Servers:  func() any { return p.proxy.Servers() },

		fleet.Statements: func() any { return fleet.StatementsTold(p.proxy.Statements()) },
		fleet.Top:        func() any { return fleet.TopTold(p.proxy.Statements()) },
		fleet.Pulse: func() any {
			return fleet.Packed[fleet.Beat]{Value: fleet.BeatOf(p.proxy.Status(), p.card.Started, time.Now())}
		},
		fleet.ForgetStatements: func() any { return fleet.StatementsForgotten(p.proxy.Statements()) },

		fleet.Generators: func() any { return p.numbers.Reports() },
		fleet.Sessions:   func() any { return fleet.SessionsAnswer(p.proxy.Processes()) },
	}
}
