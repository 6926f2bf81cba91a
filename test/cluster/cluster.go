package cluster

import (
	"cmp"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"locus/config/etcd"
	"locus/control/declared"
	"locus/control/jobs"
	"locus/internal/test/link"
	"locus/internal/test/process"
	"locus/internal/test/servers"
	"locus/router"
	"locus/router/cluster"
)

// Schema is the database of a cluster's tables, and User the account of its clients. The password is [servers.Password].
const (
	Schema = "shop"
	User   = "app"
)

// Options describe a cluster.
type Options struct {
	Shards  int // number of shards that own genes, an equal part each; 0: 2
	Spare   int // shards that own none
	Proxies int // places for proxies; 0: 3
	// SQL are statements that every server executes after it has created the database Schema.
	SQL []string
	// Tables are the lines below `tables:` of the cluster's file, and UserFields what follows the user's secret there.
	Tables, UserFields string
	// Routes are the lines below `routes:`; empty: an equal part for each of the first shards.
	Routes     string
	ServerArgs []string // further options of the servers' command line
	KeyRing    string   // path of the key ring of order numbers, for the binary that ships; empty: numbers aren't hidden
	Undeclared bool     // the test declares the cluster itself, by [Cluster.Locus] or [Cluster.Declare]
	Bare       bool     // the test also starts the servers itself
	Linked     bool     // processes reach servers and etcd by links, which a test can cut and slow
	// Address returns where processes reach a server; nil: the server's own address, or its link's.
	Address func(*Shard) string
}

// Cluster is a running cluster. Only one goroutine uses it, except for parts that permit more.
type Cluster struct {
	Shards  []*Shard
	Proxies []*Proxy
	Etcd    *Etcd
	KV      *etcd.KV    // the cluster's documents
	Jobs    *jobs.Store // client of the test's own process

	t         *testing.T
	name      string // the cluster's name in the names of transactions, and in Prefix
	keyRing   string
	dir       string
	log       *os.File
	direct    []*sql.DB // connections to the servers; nil until they are used
	locusOnce sync.Once // writes the file of commands
}

// Start starts servers and etcd and declares the cluster. Proxies are started by [Cluster.StartProxies].
func Start(t *testing.T, engine servers.Engine, o Options) *Cluster {
	t.Helper()
	o.Shards, o.Proxies = cmp.Or(o.Shards, 2), cmp.Or(o.Proxies, 3)
	c := &Cluster{t: t, name: "test", keyRing: o.KeyRing, dir: t.TempDir()}
	c.openLog()
	if !o.Bare {
		c.startShards(engine, o)
	}
	c.Etcd = StartEtcd(t, c.log)
	if o.Linked {
		c.Etcd.Link = link.New(t, c.Etcd.Addr())
	}
	c.KV = c.Connect(c.Etcd.Addr(), 2*time.Second)
	c.Jobs = jobs.New(c.KV, "the test", nil)
	if !o.Undeclared && !o.Bare {
		c.Declare(c.file(o))
	}
	for i := range o.Proxies {
		p := &Proxy{Process: &process.Process{Variable: variable, Name: fmt.Sprintf("proxy %d", i), Log: c.log}, t: t, c: c}
		t.Cleanup(p.Kill)
		c.Proxies = append(c.Proxies, p)
	}
	return c
}

// Connect connects to etcd at an address, which may be a link's, and returns the cluster's documents. Patience bounds each request; 0: the
// default.
func (c *Cluster) Connect(addr string, patience time.Duration) *etcd.KV {
	c.t.Helper()
	client, err := etcd.Open(etcd.Config{Endpoints: []string{addr}, RequestTimeout: patience})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = client.Close() })
	return client.Under(Prefix)
}

// openLog opens the log of all processes and prints its end if the test fails.
func (c *Cluster) openLog() {
	c.t.Helper()
	var err error
	if c.log, err = os.Create(c.Path("processes.log")); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = c.log.Close()
		if text, err := os.ReadFile(c.log.Name()); err == nil && c.t.Failed() {
			c.t.Logf("the log of the processes ends:\n%s", text[max(0, len(text)-20_000):])
		}
	})
}

func (c *Cluster) startShards(engine servers.Engine, o Options) {
	c.t.Helper()
	started := servers.Start(c.t, engine, o.Shards+o.Spare, o.ServerArgs...)
	for i, server := range started {
		s := &Shard{Server: server, Name: router.ShardName(fmt.Sprintf("s%d", i)), t: c.t}
		if o.Linked {
			s.Link = link.New(c.t, server.Addr())
		}
		c.Shards = append(c.Shards, s)
	}
	c.direct = make([]*sql.DB, len(c.Shards))
	statements := append([]string{"CREATE DATABASE " + Schema, "USE " + Schema}, o.SQL...)
	if err := servers.Each(started, func(_ int, s *servers.Server) error { return s.Execute(c.t.Context(), statements...) }); err != nil {
		c.t.Fatal(err)
	}
}

// file returns the cluster's file.
func (c *Cluster) file(o Options) string {
	var b strings.Builder
	b.WriteString("schema: 1\nshards:\n")
	for _, s := range c.Shards {
		address := s.reached()
		if o.Address != nil {
			address = o.Address(s)
		}
		fmt.Fprintf(&b, "  %s: {address: %q, user: %s, secret: shard}\n", s.Name, address, s.User)
	}
	fmt.Fprintf(&b, "tables:\n%susers:\n  %s: {secret: app%s}\nroutes: |\n%s", o.Tables, User, o.UserFields, cmp.Or(o.Routes, Even(o.Shards)))
	return b.String()
}

// Even returns the lines of a map that gives each of the first shards an equal part.
func Even(shards int) string {
	var b strings.Builder
	for i := range shards {
		fmt.Fprintf(&b, "  0x%04x s%d\n", 0x10000*(i+1)/shards-1, i)
	}
	return b.String()
}

// Declare makes a cluster's file the declared cluster, as `locus apply` does.
func (c *Cluster) Declare(file string) {
	c.t.Helper()
	next, err := cluster.Parse([]byte(file))
	if err != nil {
		c.t.Fatal(err)
	}
	state, err := declared.Read(c.t.Context(), c.KV)
	if err != nil {
		c.t.Fatal(err)
	}
	stamp := router.Stamp{By: "the test", At: time.Now()}
	if next, err = cluster.Succeed(state.Cluster, next, stamp); err != nil {
		c.t.Fatal(err)
	}
	if err := state.Commit(c.t.Context(), c.KV, next, stamp); err != nil {
		c.t.Fatal(err)
	}
}

// StartProxies starts a process in each place for a proxy.
func (c *Cluster) StartProxies() {
	c.t.Helper()
	for _, p := range c.Proxies {
		p.Start()
	}
}

// Path returns the path of a file in the cluster's directory.
func (c *Cluster) Path(name string) string { return filepath.Join(c.dir, name) }

// Write writes a file to the cluster's directory.
func (c *Cluster) Write(name, text string) {
	c.t.Helper()
	if err := os.MkdirAll(filepath.Dir(c.Path(name)), 0o700); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(c.Path(name), []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// Config returns how go-sql-driver logs in to a proxy at an address.
func Config(addr string) *mysql.Config {
	config := mysql.NewConfig()
	config.Net, config.Addr, config.User, config.Passwd, config.DBName = "tcp", addr, User, servers.Password, Schema
	config.Timeout, config.ReadTimeout = 5*time.Second, 30*time.Second
	config.Logger = &mysql.NopLogger{}
	return config
}

// Open opens a pool of connections. The caller closes it.
func Open(config *mysql.Config) *sql.DB {
	connector, err := mysql.NewConnector(config)
	if err != nil {
		panic(err) // this program has made the config
	}
	return sql.OpenDB(connector)
}

// DB opens a pool of connections to a proxy, which is closed when the test ends.
func (c *Cluster) DB(proxy int) *sql.DB {
	c.t.Helper()
	db := Open(Config(c.Proxies[proxy].Addr()))
	c.t.Cleanup(func() { _ = db.Close() })
	return db
}

// All runs a query on every shard, past the proxies, and passes each row to f.
func (c *Cluster) All(t *testing.T, query string, f func(shard int, rows *sql.Rows) error) {
	t.Helper()
	for i, s := range c.Shards {
		if c.direct[i] == nil {
			c.direct[i] = s.DB(c.t, Schema)
		}
		rows, err := c.direct[i].QueryContext(t.Context(), query)
		if err != nil {
			t.Fatalf("shard %s: %s: %v", s.Name, query, err)
		}
		for rows.Next() {
			if err := f(i, rows); err != nil {
				t.Fatal(err)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
}
