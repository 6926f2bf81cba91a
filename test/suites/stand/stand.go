package stand

import (
	"log/slog"
	"net"
	"slices"
	"strconv"
	"testing"

	"locus/cmd/dbserver"
	"locus/internal/test/servers"
	"locus/proxy"
	"locus/test/shop"
)

// Stand is a plain server, and a proxy in front of two others of the same engine. Undeclared tables are on the
// proxy's first shard, so that a suite finds a single server there.
type Stand struct {
	Engine        servers.Engine
	Direct, Proxy Endpoint
	Shop          *shop.Shop // the proxy's cluster, with its sharded tables
}

// Servers is the number of servers that a stand takes: two shards and the plain one.
const Servers = 3

// Start runs a stand on servers that the package's tests share; it needs [servers.Main]. The plain server is
// not one of the proxy's, because both ends may have a database of the same name.
func Start(t *testing.T, engine servers.Engine) *Stand { return StartWith(t, engine, shop.Options{}) }

// StartWith is like Start, with further tables and fields of the user in the cluster's declaration. If the
// options contain [Servers] servers, the stand uses those.
func StartWith(t *testing.T, engine servers.Engine, o shop.Options) *Stand {
	t.Helper()
	all := o.Servers
	if all == nil {
		all = servers.Shared(t, engine, Servers)
	}
	for _, server := range all {
		loadsFiles(t, server)
	}
	s := &Stand{Engine: engine}
	o.Servers = all[:Servers-1]
	r := &refused{codes: map[string]int{}, texts: map[string]int{}, left: left{}}
	o.Options = func(p *proxy.Options) {
		r.Handler = p.Log.Handler()
		p.Log = slog.New(r)
	}
	s.Shop = shop.Start(t, engine, o)
	t.Cleanup(func() { r.tell(t, s.Shop.Proxy) })
	s.Direct = Plain(t, all[Servers-1])
	s.Proxy = endpoint(t, "proxy", s.Shop.Addr)
	s.Proxy.TLS = true
	return s
}

// Plain returns a server as the plain one of a stand. It has the account that the proxy has: suites print who they are.
func Plain(t *testing.T, server *servers.Server) Endpoint {
	t.Helper()
	loadsFiles(t, server)
	if err := server.CreateUser(t.Context(), dbserver.User{Name: shop.User, Password: shop.Password}); err != nil {
		t.Fatal(err)
	}
	at := endpoint(t, "direct", server.Addr())
	at.TLS = server.Engine() == servers.MySQL // MariaDB 10.11 makes no certificate by itself
	return at
}

// loadsFiles permits clients to load files, which MySQL does not by default.
func loadsFiles(t *testing.T, server *servers.Server) {
	t.Helper()
	server.Exec(t, "SET GLOBAL local_infile = 1")
}

// Spread fails the test where a shard has no row of a sharded table.
func (s *Stand) Spread(t *testing.T, database string, tables ...string) {
	t.Helper()
	for _, table := range tables {
		var each []int
		for i, server := range s.Shop.Servers {
			var rows int
			if err := server.DB(t, database).QueryRowContext(t.Context(), "SELECT COUNT(*) FROM `"+table+"`").Scan(&rows); err != nil {
				t.Errorf("%s on s%d: %v", table, i, err)
			}
			each = append(each, rows)
		}
		if slices.Contains(each, 0) {
			t.Errorf("%s: the shards have %v rows", table, each)
		}
		t.Logf("%s: %v rows", table, each)
	}
}

// Endpoints returns both endpoints, the plain server first.
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
