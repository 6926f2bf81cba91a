package main

import (
	"io"
	"log/slog"
	"path/filepath"

	"locus/config"
	"locus/idgen/cipher"
	"locus/proxy"
	"locus/proxy/backend"
	"locus/proxy/handshake"
	"locus/proxy/txn"
	"locus/router/cluster"
	"locus/router/live"
)

// proxyOptions returns the options of the proxy from the configuration.
func proxyOptions(conn *connection, shown *certificates, ring func() *cipher.Ring, log *slog.Logger) (proxy.Options, error) {
	c := conn.config
	identity, err := identify(c, shown)
	if err != nil {
		return proxy.Options{}, err
	}
	state := filepath.Join(c.DataDir, "cluster.json")
	return proxy.Options{
		Declared: conn.kv.Under(cluster.Prefix),
		Segments: conn.kv.Under(cluster.SegmentPrefix),
		Secrets:  c.Secrets.Lookup,
		Ring:     ring, TLS: identity.TLS, RSA: identity.RSA,
		ServerVersion: c.Proxy.ServerVersion, NoLocalFiles: !c.Proxy.LocalInfile,
		Backends: backend.Limits{
			MaxOpen: c.Backends.MaxConnectionsPerShard, WaitTimeout: c.Backends.WaitTimeout.Std(),
			RestartWait: c.Backends.RestartWait.Std(), ConnectTimeout: c.Backends.ConnectTimeout.Std(), IdleTimeout: c.Backends.IdleTimeout.Std(),
		},
		Stall:          c.Backends.Stall.Std(),
		Spanning:       spanning(c),
		Cluster:        c.Cluster,
		MaxConnections: c.Proxy.MaxConnections, MaxStatement: int(c.Proxy.MaxStatement), SessionMemory: int64(c.Proxy.SessionMemory),
		MaxLoginPacket: int(c.Proxy.MaxPacketBeforeLogin),
		LoginTimeout:   c.Proxy.ConnectTimeout.Std(), IdleTimeout: c.Proxy.IdleTimeout.Std(),
		NetWriteTimeout: c.Proxy.NetWriteTimeout.Std(), NetReadTimeout: c.Proxy.NetReadTimeout.Std(),
		StatementTimeout: c.Proxy.StatementTimeout.Std(), SlowStatement: c.Proxy.SlowStatement.Std(),
		DrainDelay: c.Proxy.DrainDelay.Std(), DrainTimeout: c.Proxy.DrainTimeout.Std(),
		Save:  func(values map[string][]byte, revision int64) error { return live.WriteFile(state, values, revision) },
		Saved: func() (map[string][]byte, int64, error) { return live.ReadFile(state) },
		Log:   log,
	}, nil
}

// spanning returns the setting for transactions over several shards. A process without clients gets none,
// because it must not query shards or recover transactions.
func spanning(c *config.Config) txn.Spanning {
	if !c.Does(config.ProxyTask) {
		return txn.Single
	}
	return map[config.Transactions]txn.Spanning{config.Single: txn.Single, config.Multi: txn.Multi, config.XA: txn.XA}[c.Proxy.Transactions]
}

// identify returns the configured certificate, or a self-made one.
func identify(c *config.Config, shown *certificates) (*handshake.Identity, error) {
	identity, err := handshake.SelfSigned(filepath.Join(c.DataDir, "tls"))
	if err == nil && c.Proxy.TLS.Cert != "" {
		identity.TLS = shown.clients.server()
	}
	return identity, err
}

func newLogger(c config.Log, level *slog.LevelVar, to io.Writer) *slog.Logger {
	level.Set(c.Level.Slog())
	options := &slog.HandlerOptions{Level: level}
	if c.Format == config.JSON {
		return slog.New(slog.NewJSONHandler(to, options))
	}
	return slog.New(slog.NewTextHandler(to, options))
}
