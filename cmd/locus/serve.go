package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"

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
		Short: "Run a proxy",
		Long: `Run a proxy until it is told to stop by SIGTERM or SIGINT: then it takes no more
clients, and lets statements and transactions under way end.`,
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
	log := newLogger(conn.config.Log, in.stderr)
	if err := os.MkdirAll(conn.config.DataDir, 0o700); err != nil {
		return fmt.Errorf("data_dir: %w", err)
	}
	listener, err := net.Listen("tcp", conn.config.Proxy.Listen)
	if err != nil {
		return fmt.Errorf("proxy.listen: %w", err)
	}
	defer listener.Close()
	card := newCard(conn.config, listener.Addr(), in.now())
	presence := conn.kv.Presence(cluster.ProxyPrefix+card.ID, card.Text(), presenceTTL)
	options, err := proxyOptions(conn, log)
	if err != nil {
		return err
	}
	accounts := httpAccounts(conn.config)
	if err := checkAccounts(accounts); err != nil {
		return err
	}
	options.Name = card.ID
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
	options.Acknowledge = func(version int64) error {
		presence.Set(card.Obeying(version).Text())
		return nil
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
		fleet.Slow:     func() any { return p.Slow().Digests() },
	}}
	redefined := &fleet.Redefined{KV: conn.kv, Reread: p.Reread}
	mover := &migrate.Runner{Store: store, Name: card.ID, Log: log}
	page := console.New(console.Options{
		Proxy: p, Cluster: shared{store, conn}, IDs: generators.Handler(numbers, p.Declared), Accounts: accounts,
		Secure: conn.config.HTTP.TLS.Cert != "", Version: buildVersion().Version,
	})
	return serveAll(ctx, conn.config, log, p, page, listener, presence.Run, answers.Run, redefined.Run, obey, mover.Run)
}

// serveAll runs the proxy and what goes along with it, until ctx ends or a part
// that it can't do without fails.
func serveAll(ctx context.Context, c *config.Config, log *slog.Logger, p *proxy.Proxy, handler http.Handler, l net.Listener, beside ...func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	page, err := listenHTTP(c)
	if err != nil {
		return err
	}
	background, end := context.WithCancel(context.WithoutCancel(ctx))
	var tasks sync.WaitGroup
	var pageErr error
	if page != nil {
		tasks.Go(func() {
			defer stop()
			pageErr = serveHTTP(background, handler, page)
		})
	}
	for _, run := range beside {
		tasks.Go(func() { _ = run(background) }) // an etcd that is away is the log's and the health's
	}
	err = p.Run(ctx, l)
	log.Info("stopped")
	end()
	tasks.Wait()
	return errors.Join(err, pageErr)
}
