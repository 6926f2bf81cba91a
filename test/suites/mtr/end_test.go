package mtr

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"locus/internal/test/servers"
	"locus/proxy"
	"locus/router/cluster"
	"locus/test/shop"
)

// end is where a case's client connects: a plain server, or a proxy.
type end struct {
	addr  string
	vars  string  // the case's own directory, for files
	sites []*site // the servers that cases run on; undeclared tables are on the first
}

// ends are both, on servers of their own.
func ends(t *testing.T, s suite, engine servers.Engine) (direct, proxied *end) {
	t.Helper()
	all := startServers(t, s, engine, 3)
	return newEnd(t, all[0].Addr(), all[:1]), newEnd(t, serve(t, all[1:]), all[1:])
}

func newEnd(t *testing.T, addr string, behind []*servers.Server) *end {
	t.Helper()
	e := &end{addr: addr, vars: filepath.Join(t.TempDir(), "var")}
	for _, server := range behind {
		s, err := newSite(t.Context(), server)
		if err != nil {
			t.Fatal(err)
		}
		e.sites = append(e.sites, s)
	}
	return e
}

// serve runs a proxy before the shards. The account is the suite's: root,
// without a password.
func serve(t *testing.T, shards []*servers.Server) string {
	t.Helper()
	text := "schema: 1\nshards:\n"
	for i, shard := range shards {
		text += fmt.Sprintf("  s%d: {address: %q, user: root, secret: none}\n", i, shard.Addr())
	}
	declared, err := cluster.Parse([]byte(text + "users:\n  root: {secret: none}\nroutes: |\n  0x7fff s0\n  0xffff s1\n"))
	if err != nil {
		t.Fatal(err)
	}
	identity := shop.Identity(t) // the plain server has TLS too, and cases ask for it
	_, addr := shop.Serve(t, proxy.Options{
		TLS: identity.TLS, RSA: identity.RSA,
		Declared: shop.Declared(declared), Secrets: func(string) (string, error) { return "", nil },
		Segments: shop.Segments(), Name: "test", DrainTimeout: 2 * time.Second,
	})
	return addr
}

// data returns the data directory in which cases look for files.
func (e *end) data() string { return filepath.Join(e.sites[0].server.Dir(), "data") }

func (e *end) clean(ctx context.Context) error {
	for _, s := range e.sites {
		if err := s.clean(ctx); err != nil {
			return err
		}
	}
	return nil
}

// stop ends statements on the servers that a case has left running because it took too long.
func (e *end) stop(ctx context.Context) error {
	for _, s := range e.sites {
		if err := s.killAll(ctx); err != nil {
			return err
		}
	}
	return nil
}

// died reports whether a case has ended a server.
func (e *end) died() bool {
	for _, s := range e.sites {
		select {
		case <-s.server.Done():
			return true
		default:
		}
	}
	return false
}
