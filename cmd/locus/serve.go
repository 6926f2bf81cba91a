package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"locus/cmd/console"
	"locus/config"
	"locus/idgen/cipher"
	"locus/proxy"
	"locus/proxy/backend"
	"locus/proxy/handshake"
	"locus/proxy/session"
	"locus/router/cluster"
	"locus/router/gene"
	"locus/router/live"
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
	presence := conn.kv.Presence(cluster.ProxyPrefix+card.ID, card.text(), presenceTTL)
	options, err := proxyOptions(conn, log)
	if err != nil {
		return err
	}
	options.Name = card.ID
	options.Acknowledge = func(version int64) error {
		presence.Set(card.obeying(version).text())
		return nil
	}
	p := proxy.New(options)
	if err := p.Start(ctx); err != nil {
		return fmt.Errorf("read the cluster %s: %w", conn.config.Cluster, err)
	}
	log.Info("serving", slog.String("addr", card.Addr), slog.String("cluster", conn.config.Cluster), slog.Int("pid", os.Getpid()))
	return serveAll(ctx, conn.config, log, p, listener, presence.Run)
}

// serveAll runs the proxy and what goes along with it, until ctx ends or a part
// that it can't do without fails.
func serveAll(ctx context.Context, c *config.Config, log *slog.Logger, p *proxy.Proxy, l net.Listener, present func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	page, err := listenHTTP(c)
	if err != nil {
		return err
	}
	beside, end := context.WithCancel(context.WithoutCancel(ctx))
	var tasks sync.WaitGroup
	var pageErr error
	if page != nil {
		tasks.Go(func() {
			defer stop()
			pageErr = serveHTTP(beside, c, p, page)
		})
	}
	tasks.Go(func() { _ = present(beside) }) // an etcd that is away is the log's and the health's
	err = p.Run(ctx, l)
	log.Info("stopped")
	end()
	tasks.Wait()
	return errors.Join(err, pageErr)
}

func listenHTTP(c *config.Config) (net.Listener, error) {
	if c.HTTP.Listen == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", c.HTTP.Listen)
	if err != nil {
		return nil, fmt.Errorf("http.listen: %w", err)
	}
	return l, nil
}

// serveHTTP serves until ctx ends; requests under way have a second to end.
func serveHTTP(ctx context.Context, c *config.Config, p *proxy.Proxy, l net.Listener) error {
	login := console.Login{User: c.HTTP.User}
	if c.HTTP.PasswordFile != "" {
		password, err := config.ReadSecret(c.HTTP.PasswordFile)
		if err != nil {
			return errors.Join(fmt.Errorf("http.password_file: %w", err), l.Close())
		}
		login.Password = password
	}
	server := console.Server(console.New(p, login, buildVersion().Version))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve http: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if server.Shutdown(grace) != nil {
		_ = server.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve http: %w", err)
	}
	return nil
}

// proxyOptions is the proxy's part of the configuration.
func proxyOptions(conn *connection, log *slog.Logger) (proxy.Options, error) {
	c := conn.config
	identity, err := identify(c)
	if err != nil {
		return proxy.Options{}, err
	}
	var ring *cipher.Ring
	if c.KeyRing != "" {
		if ring, err = cipher.Load(c.KeyRing); err != nil {
			return proxy.Options{}, err
		}
		if err := cipher.CheckMode(c.KeyRing); err != nil {
			log.Warn("key ring", slog.Any("error", err))
		}
	}
	state := filepath.Join(c.DataDir, "cluster.json")
	return proxy.Options{
		Declared: conn.kv.Under(cluster.Prefix),
		Segments: conn.kv.Under(cluster.SegmentPrefix),
		Secrets:  c.Secrets.Lookup,
		Ring:     ring, TLS: identity.TLS, RSA: identity.RSA,
		ServerVersion: c.Proxy.ServerVersion,
		Backends: backend.Limits{
			MaxOpen: c.Backends.MaxConnectionsPerShard, WaitTimeout: c.Backends.WaitTimeout.Std(),
			ConnectTimeout: c.Backends.ConnectTimeout.Std(), IdleTimeout: c.Backends.IdleTimeout.Std(),
		},
		Spanning:       map[config.Transactions]session.Spanning{config.Single: session.Single, config.Multi: session.Multi}[c.Proxy.Transactions],
		MaxConnections: c.Proxy.MaxConnections, MaxStatement: int(c.Proxy.MaxStatement),
		MaxLoginPacket: int(c.Proxy.MaxPacketBeforeLogin),
		LoginTimeout:   c.Proxy.ConnectTimeout.Std(), IdleTimeout: c.Proxy.IdleTimeout.Std(),
		Save:  func(values map[string][]byte, revision int64) error { return live.WriteFile(state, values, revision) },
		Saved: func() (map[string][]byte, int64, error) { return live.ReadFile(state) },
		Log:   log,
	}, nil
}

// identify is the certificate of the configuration, or one of its own.
func identify(c *config.Config) (*handshake.Identity, error) {
	identity, err := handshake.SelfSigned(filepath.Join(c.DataDir, "tls"))
	if err != nil || c.Proxy.TLS.Cert == "" {
		return identity, err
	}
	pair, err := tls.LoadX509KeyPair(c.Proxy.TLS.Cert, c.Proxy.TLS.Key)
	if err != nil {
		return nil, fmt.Errorf("proxy.tls: %w", err)
	}
	identity.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	return identity, nil
}

func newLogger(c config.Log, to interface{ Write([]byte) (int, error) }) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.Level.Slog()}
	if c.Format == config.JSON {
		return slog.New(slog.NewJSONHandler(to, options))
	}
	return slog.New(slog.NewTextHandler(to, options))
}

// hostOf is the name that others may know this listener's host by.
func hostOf(addr net.Addr) (host, port string) {
	host, port, _ = net.SplitHostPort(addr.String())
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		name, err := os.Hostname()
		host = cmp.Or(name, host)
		if err != nil {
			return host, port
		}
	}
	return host, port
}
