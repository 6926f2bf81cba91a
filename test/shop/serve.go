package shop

import (
	"context"
	"net"
	"testing"

	"locus/idgen/segment"
	"locus/proxy"
	"locus/router/cluster"
	"locus/router/live"
)

// Serve runs a proxy on a port of loopback until the test ends.
func Serve(t testing.TB, options proxy.Options) (p *proxy.Proxy, addr string) {
	t.Helper()
	p = proxy.New(options)
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("proxy: %v", err)
		}
	})
	return p, listener.Addr().String()
}

// Declared returns a source with a cluster in memory, as a proxy reads it.
func Declared(c *cluster.Cluster) live.Source { return newSource(c) }

// Segments grants sequences, in memory.
func Segments() segment.KV { return &kv{values: map[string]versioned{}} }
