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

	"github.com/spf13/cobra"

	"locus/config"
	"locus/control/fleet"
	"locus/control/generators"
	"locus/idgen/gene"
	"locus/idgen/snowflake"
	"locus/proxy"
	"locus/router/cluster"
)

func serveCommand(in *invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "serve -c locus.yaml",
		Short: "Run a process: a proxy, a mover, and IDs over HTTP, depending on its roles",
		Long: `Run a process until SIGTERM or SIGINT. It then accepts no more clients, and waits until
running statements and transactions have ended. The roles in the configuration determine
whether it is a proxy, runs jobs, and issues numbers.`,
		Example: `  locus serve -c locus.yaml
  locus config reference > locus.yaml`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return in.serve(command.Context()) },
	}
}

// serve runs one process until it is stopped. It closes what it has opened, in reverse order.
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
	p := &process{connection: conn, in: in, level: new(slog.LevelVar), shown: new(certificates), stop: stop}
	p.log = newLogger(p.config.Log, p.level, in.stderr)
	if err := reportFiles(p.config.Examine(in.now()), p.log); err != nil {
		return err
	}
	if err := os.MkdirAll(p.config.DataDir, 0o700); err != nil {
		return fmt.Errorf("data_dir: %w", err)
	}
	if err := p.shown.load(p.config); err != nil {
		return err
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	if p.ports, err = listen(p.config, p.shown); err != nil {
		return err
	}
	defer p.ports.close()
	if err := p.introduce(); err != nil {
		return err
	}
	if p.spans, err = openTraces(p.config, p.card.ID, p.log); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.spans.Close()) }()
	defer p.record()()
	worker, err := workerOf(p.config, p.card)
	if err != nil {
		return err
	}
	p.numbers = generators.New(generators.Options{
		Worker: worker,
		KV:     p.kv.Under(cluster.SegmentPrefix), Name: p.card.ID, DataDir: p.config.DataDir, Secrets: p.config.Secrets.Lookup, Log: p.log,
	})
	defer func() { err = errors.Join(err, p.numbers.Close()) }()
	page, err := p.start(ctx)
	if err != nil {
		return err
	}
	leave, err := p.register(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return serveAll(ctx, p.log, p.proxy, page, p.ports, append(p.beside(page, hangups), func(background context.Context) error { return p.recordDrain(background, ctx) })...)
}

// workerOf returns the settings of the process's worker number in snowflakes.
func workerOf(c *config.Config, card fleet.Card) (snowflake.Options, error) {
	first, last, err := c.Snowflake.Range()
	o := snowflake.Options{First: first, Last: last, One: first == last, Claim: c.Snowflake.ClaimFor()}
	if c.Snowflake.Reuse == config.ReuseByAddress {
		o.Address = card.Addr
		if o.Address == "" {
			return o, errors.New("snowflake.reuse: address: this process listens nowhere, so it has no address: use data_dir")
		}
	}
	return o, err
}

// reportFiles logs problems with the files of the configuration, and returns those without which the process
// can't start. An expired certificate is only logged, because clients that don't verify it can still be served.
func reportFiles(files config.Files, log *slog.Logger) error {
	if files.Unusable != nil {
		return files.Unusable
	}
	if files.Expired != nil {
		log.Error("clients that check certificates will refuse this process", "error", files.Expired)
	}
	for _, w := range files.Warnings {
		log.Warn("configuration", "problem", w)
	}
	return nil
}

// serveAll runs the proxy and the additional tasks, until ctx ends or an essential part fails.
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
		tasks.Go(func() { _ = run(background) }) // the log and the health checks report an unreachable etcd
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
