package shop

import (
	"database/sql"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"locus/idgen/cipher"
	"locus/internal/test/servers"
	"locus/proxy"
	"locus/proxy/backend"
	"locus/proxy/txn"
	"locus/router"
	"locus/router/cluster"
)

// User and Password are the application's account at the proxy.
const (
	User     = "app"
	Password = "app"
)

// Shop is a running cluster.
type Shop struct {
	Servers []*servers.Server
	Schema  string
	Addr    string // of the proxy
	Proxy   *proxy.Proxy
	Cluster *cluster.Cluster // the cluster that was declared at the start
	Ring    *cipher.Ring
	source  *source
	shards  []func() *sql.DB // each is opened when it is first used
}

// Options change a shop from the usual.
type Options struct {
	Servers []*servers.Server // the test's own; nil: those that the package's tests share
	Shards  int               // number of shards that own genes; default 2
	Spare   int               // the number of shards without genes
	// Address returns the address by which the proxy reaches a server; nil: the server's own.
	Address  func(*servers.Server) string
	Spanning txn.Spanning
	Backends backend.Limits
	Options  func(*proxy.Options)
	// Tables are further tables on every server. Declarations are their lines below `tables:` in cluster.yaml.
	// {schema} stands for the shop's schema.
	Tables       []string
	Declarations string
	// User contains further fields of the user's declaration.
	User string
}

// Tables makes the sample schema; {schema} is replaced by the shop's.
var Tables = []string{
	`CREATE TABLE {schema}.test_order (
		order_id BIGINT NOT NULL PRIMARY KEY, order_no BIGINT NOT NULL, buyer_uid BIGINT NOT NULL,
		amount DECIMAL(12,2) NOT NULL DEFAULT 0, status VARCHAR(16) NOT NULL DEFAULT 'new', version BIGINT NOT NULL,
		created_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), KEY (order_no), KEY (buyer_uid)
	) DEFAULT CHARSET utf8mb4`,
	`CREATE TABLE {schema}.order_item (
		item_id BIGINT NOT NULL PRIMARY KEY, order_id BIGINT NOT NULL, product_id BIGINT NOT NULL,
		quantity INT NOT NULL DEFAULT 1, price DECIMAL(12,2) NOT NULL DEFAULT 0, KEY (order_id)
	) DEFAULT CHARSET utf8mb4`,
	`CREATE TABLE {schema}.product (product_id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(64) NOT NULL, price DECIMAL(12,2) NOT NULL) DEFAULT CHARSET utf8mb4`,
}

// Single are the tables of the first shard alone.
var Single = []string{
	"CREATE TABLE {schema}.setting (name VARCHAR(64) NOT NULL PRIMARY KEY, value VARCHAR(255)) DEFAULT CHARSET utf8mb4",
	"CREATE TABLE {schema}.counted (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, note VARCHAR(64)) DEFAULT CHARSET utf8mb4",
}

// Start runs a shop on servers that the package's tests share.
func Start(t testing.TB, engine servers.Engine, o Options) *Shop {
	t.Helper()
	if o.Shards == 0 {
		o.Shards = 2
	}
	s := &Shop{Servers: o.Servers}
	if s.Servers == nil {
		s.Servers = servers.Shared(t, engine, o.Shards+o.Spare)
	}
	s.Schema = servers.Database(t, s.Servers...)
	err := servers.Each(s.Servers, func(i int, server *servers.Server) error {
		return server.Execute(t.Context(), s.tables(i, o)...)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, server := range s.Servers {
		s.shards = append(s.shards, sync.OnceValue(func() *sql.DB { return server.DB(t, s.Schema) }))
	}
	s.declare(t, o)
	s.run(t, o)
	return s
}

// tables returns the statements that create the tables of one server.
func (s *Shop) tables(i int, o Options) (statements []string) {
	all := slices.Concat(Tables, o.Tables)
	if i == 0 {
		all = slices.Concat(Tables, Single, o.Tables)
	}
	for _, table := range all {
		statements = append(statements, s.text(table))
	}
	return statements
}

func (s *Shop) text(sql string) string { return strings.ReplaceAll(sql, "{schema}", s.Schema) }

// declare makes the cluster's documents.
func (s *Shop) declare(t testing.TB, o Options) {
	t.Helper()
	var b strings.Builder
	b.WriteString("schema: 1\nshards:\n")
	for i, server := range s.Servers {
		address := server.Addr()
		if o.Address != nil {
			address = o.Address(server)
		}
		fmt.Fprintf(&b, "  s%d: {address: %q, user: %s, secret: shard}\n", i, address, server.User)
	}
	fmt.Fprintf(&b, `tables:
  %[1]s.test_order:
    kind: sharded
    owner: buyer_uid
    id: {column: order_id, layout: int64}
    order_number: order_no
    version: version
  %[1]s.order_item:
    kind: sharded
    parent: {column: order_id, layout: int64}
    id: {column: item_id, layout: int64}
  %[1]s.product: {kind: global}
  %[1]s.setting: {kind: single, shard: s0}
%[2]susers:
  app: {secret: app%[3]s}
routes: |
`, s.Schema, s.text(o.Declarations), s.text(o.User))
	for i := range o.Shards {
		fmt.Fprintf(&b, "  0x%04x s%d\n", 0x10000*(i+1)/o.Shards-1, i)
	}
	declared, err := cluster.Parse([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	s.Cluster, s.source = declared, newSource(declared)
}

const ring = "current: 1\nkeys:\n  - version: 1\n    cipher: ff1\n    key: 2b7e151628aed2a6abf7158809cf4f3c\n"

func (s *Shop) run(t testing.TB, o Options) {
	t.Helper()
	var err error
	if s.Ring, err = cipher.Parse([]byte(ring)); err != nil {
		t.Fatal(err)
	}
	identity := Identity(t)
	options := proxy.Options{
		Declared: s.source, Declarations: declarations{s.source}, Renames: renames{s.source}, Secrets: s.secret, Segments: Segments(), Name: "test",
		Ring: func() *cipher.Ring { return s.Ring }, KeyVersion: s.Ring.Current(), TLS: identity.TLS, RSA: identity.RSA,
		Backends: o.Backends, Spanning: o.Spanning, Cluster: s.Schema, RecoveryPatience: time.Second, DrainTimeout: 2 * time.Second,
		Log: slog.New(faults{t}),
	}
	if o.Options != nil {
		o.Options(&options)
	}
	s.Proxy, s.Addr = Serve(t, options)
}

func (s *Shop) secret(name string) (string, error) {
	switch name {
	case "app":
		return Password, nil
	case "shard":
		return s.Servers[0].Password, nil
	}
	return "", fmt.Errorf("no secret %q", name)
}

// Apply changes the declared cluster.
func (s *Shop) Apply(c *cluster.Cluster) { s.source.put(c) }

// TakeAway changes the address of a shard to one at which no server listens.
func (s *Shop) TakeAway(t testing.TB, name router.ShardName) {
	t.Helper()
	away := *s.Cluster
	away.Shards = maps.Clone(away.Shards)
	shard := away.Shards[name]
	shard.Address = "127.0.0.1:" + servers.Port(t)
	away.Shards[name] = shard
	s.Apply(&away)
}

// Config returns the configuration with which go-sql-driver logs in to the proxy.
func (s *Shop) Config() *mysql.Config {
	c := mysql.NewConfig()
	c.Net, c.Addr, c.User, c.Passwd, c.DBName = "tcp", s.Addr, User, Password, s.Schema
	return c
}

// DB opens a pool of connections to the proxy. Configure may be nil.
func (s *Shop) DB(t testing.TB, configure func(*mysql.Config)) *sql.DB {
	t.Helper()
	c := s.Config()
	if configure != nil {
		configure(c)
	}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Shard returns a pool of connections to one shard's server. It is the same pool during the whole test, so that
// repeated queries don't open a connection each time.
func (s *Shop) Shard(t testing.TB, i int) *sql.DB {
	t.Helper()
	return s.shards[i]()
}
