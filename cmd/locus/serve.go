package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"locus/cmd/console"
	"locus/cmd/declared"
	"locus/cmd/fleet"
	"locus/cmd/generators"
	"locus/cmd/jobs"
	"locus/cmd/virtual"
	"locus/config"
	"locus/migrate"
	"locus/proxy"
	"locus/router/cluster"
	"locus/router/gene"
)

func serveCommand(in *invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "serve -c locus.yaml",
		Short: "Run a proxy, or what else the configuration's roles say",
		Long: `Run a proxy until it is told to stop by SIGTERM or SIGINT: then it takes no more
clients, and lets statements and transactions under way end. Roles of the
configuration say whether it is a proxy, runs moves, and gives numbers.`,
		Example: `  locus serve -c locus.yaml
  locus config reference > locus.yaml`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return in.serve(command.Context()) },
	}
}

// serve is the wiring of one process. What it opens it closes in reverse.
func (in *invocation) serve(ctx context.Context) (err error) {
	if err := gene.CheckGolden(); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	conn, err := in.connect()
	if err != nil {
		return err
	}
	defer conn.close()
	level, shown := new(slog.LevelVar), new(certificates)
	log := newLogger(conn.config.Log, level, in.stderr)
	if err := os.MkdirAll(conn.config.DataDir, 0o700); err != nil {
		return fmt.Errorf("data_dir: %w", err)
	}
	if err := shown.load(conn.config); err != nil {
		return err
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	ports, err := listen(conn.config, shown)
	if err != nil {
		return err
	}
	defer ports.close()
	card := newCard(conn.config, ports.addr(), in.now())
	presence := conn.kv.Presence(card.Key(), card.Text(), presenceTTL)
	options, err := proxyOptions(conn, shown, log)
	if err != nil {
		return err
	}
	accounts := httpAccounts(conn.config)
	if err := checkAccounts(accounts); err != nil {
		return err
	}
	spans, err := openTraces(conn.config, card.ID, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, spans.Close()) }()
	options.Name, options.Tracer = card.ID, spans.Tracer()
	hurry := make(chan struct{})
	options.Hurry = hurry
	evict := sync.OnceFunc(func() { close(hurry) })
	obey := func(ctx context.Context) error {
		return fleet.Obey(ctx, conn.kv, card.ID, func(o fleet.Order, by string) {
			log.Info("told to stop", slog.String("order", string(o)), slog.String("by", by))
			if o == fleet.Evict {
				evict()
			}
			stop()
		})
	}
	store := jobs.New(conn.kv, card.ID, conn.config.Secrets.Lookup)
	options.Virtual = virtual.New(conn.kv, store)
	if ports.clients == nil {
		options.Name = cluster.NoProxy
	} else {
		options.Acknowledge = func(version int64) error {
			presence.Set(card.Obeying(version).Text())
			return nil
		}
	}
	options.Redefined = func(ctx context.Context) error { return fleet.TellRedefined(ctx, conn.kv, card.ID) }
	var p *proxy.Proxy
	options.Fence.Release = func(ctx context.Context, version int64) error {
		return declared.ReleaseFence(ctx, conn.kv, version, card.ID)
	}
	options.Fence.Leased = func() int64 { // known to be alive, and by a map that is no older
		if since, held := presence.Held(); held && p.ReadAsOf(since) {
			return since
		}
		return 0
	}
	options.Alive = func(ctx context.Context) ([]string, error) { return fleet.Alive(ctx, conn.kv) }
	numbers := generators.New(generators.Options{
		KV: conn.kv.Under(cluster.SegmentPrefix), Name: card.ID, DataDir: conn.config.DataDir, Secrets: conn.config.Secrets.Lookup,
		Log: log,
	})
	defer func() { err = errors.Join(err, numbers.Close()) }()
	options.Generators = numbers
	p = proxy.New(options)
	if err := p.Start(ctx); err != nil {
		return fmt.Errorf("read the cluster %s: %w", conn.config.Cluster, err)
	}
	log.Info("serving", slog.String("addr", card.Addr), slog.String("cluster", conn.config.Cluster), slog.Int("pid", os.Getpid()))
	answers := &fleet.Answerer{KV: conn.kv, Presence: presence, ID: card.ID, Log: log, Values: map[fleet.Question]func() any{
		fleet.Load:     func() any { return p.Load() },
		fleet.Outcomes: func() any { return p.Outcomes() },
		fleet.Clock:    func() any { return time.Now().UTC() },
		fleet.Slow:     func() any { return p.Slow().Digests() },
	}}
	redefined := &fleet.Redefined{KV: conn.kv, Reread: p.Reread}
	mover := &migrate.Runner{Store: store, Name: card.ID, Log: log, Stepped: spans.Stepped}
	page := console.New(console.Options{
		Proxy: p, Cluster: shared{store, conn}, IDs: given(conn.config, generators.Handler(numbers, p.Declared)), Accounts: accounts,
		Secure: conn.config.HTTP.TLS.Cert != "", Version: buildVersion().Version, Traced: spans.Counts,
	})
	again := &reloader{load: in.configuration, current: *conn.config, log: log, level: level, certificates: shown, proxy: p}
	reload := func(ctx context.Context) error { return again.run(ctx, hangups) }
	beside := []func(context.Context) error{presence.Run, obey, reload}
	if conn.config.Does(config.ProxyTask) {
		beside = append(beside, answers.Run, redefined.Run)
	}
	if conn.config.Does(config.MoverTask) {
		beside = append(beside, mover.Run)
	}
	return serveAll(ctx, log, p, page, ports, beside...)
}

// serveAll runs the proxy and what goes along with it, until ctx ends or a part
// that it can't do without fails.
func serveAll(ctx context.Context, log *slog.Logger, p *proxy.Proxy, handler http.Handler, l ports, beside ...func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	background, end := context.WithCancel(context.WithoutCancel(ctx))
	var tasks sync.WaitGroup
	var pageErr error
	if l.page != nil {
		tasks.Go(func() {
			defer stop()
			pageErr = serveHTTP(background, handler, l.page)
		})
	}
	for _, run := range beside {
		tasks.Go(func() { _ = run(background) }) // an etcd that is away is the log's and the health's
	}
	var err error
	if l.clients != nil {
		err = p.Run(ctx, l.clients)
	} else {
		err = p.Follow(ctx)
	}
	log.Info("stopped")
	end()
	tasks.Wait()
	return errors.Join(err, pageErr)
}
