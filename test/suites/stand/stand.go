package stand

import (
	"log/slog"
	"net"
	"strconv"
	"testing"

	"locus/cmd/dbserver"
	"locus/proxy"
	"locus/test/servers"
	"locus/test/shop"
)

// Stand is a plain server and a proxy before two others of the same engine.
// What nobody declared lives on the proxy's first shard, so that a suite finds
// one server there.
type Stand struct {
	Engine        servers.Engine
	Direct, Proxy Endpoint
	Shop          *shop.Shop // the proxy's cluster, with its sharded tables

	direct *servers.Server
}

// Start runs a stand on servers that the package's tests share; it needs
// [servers.Main]. The plain server is none of the proxy's: the same database
// may be made at both ends.
func Start(t *testing.T, engine servers.Engine) *Stand { return StartWith(t, engine, shop.Options{}) }

// StartWith is Start with what else the proxy's cluster declares, of tables and of the user.
func StartWith(t *testing.T, engine servers.Engine, o shop.Options) *Stand {
	t.Helper()
	all := servers.Shared(t, engine, 3)
	for _, server := range all {
		// Off in MySQL, and suites load files from the client.
		server.Exec(t, "SET GLOBAL local_infile = 1")
	}
	s := &Stand{Engine: engine, direct: all[2]}
	r := &refused{codes: map[string]int{}, texts: map[string]int{}, left: left{}}
	o.Shards = 2
	o.Options = func(p *proxy.Options) {
		r.Handler = p.Log.Handler()
		p.Log = slog.New(r)
	}
	s.Shop = shop.Start(t, engine, o)
	t.Cleanup(func() { r.tell(t, s.Shop.Proxy) })
	// One name at both ends: suites print who they are.
	if err := s.direct.CreateUser(t.Context(), dbserver.User{Name: shop.User, Password: shop.Password}); err != nil {
		t.Fatal(err)
	}
	s.Direct = endpoint(t, "direct", s.direct.Addr())
	s.Direct.TLS = engine == servers.MySQL // MariaDB 10.11 makes no certificate by itself
	s.Proxy = endpoint(t, "proxy", s.Shop.Addr)
	s.Proxy.TLS = true
	return s
}

// Endpoints are both, the plain server first.
func (s *Stand) Endpoints() []Endpoint { return []Endpoint{s.Direct, s.Proxy} }

func endpoint(t *testing.T, name, addr string) Endpoint {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return Endpoint{Name: name, Host: host, Port: number, User: shop.User, Password: shop.Password}
}
