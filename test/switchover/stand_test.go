package switchover

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locus/config/etcd"
	"locus/control/declared"
	"locus/control/failover"
	"locus/control/fleet"
	"locus/control/switchover"
	"locus/internal/test/golden"
	"locus/internal/test/link"
	"locus/internal/test/servers"
	"locus/proxy/health"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
	harness "locus/test/cluster"
)

func TestMain(m *testing.M) { harness.Main(m, nil) }

// stand is a cluster of two shards. The first has two servers. Its proxies run in the test's own process.
type stand struct {
	recorders int // processes whose traces are recorded

	*harness.Cluster
	kv      *etcd.KV          // through the link to etcd
	servers []*servers.Server // two of s0, one of s1
	ways    []*link.Link      // links to the first servers, by which the cluster reaches them; none: it reaches them directly
	proxies []*harness.Own
	away    atomic.Bool // the second proxy is cut off from etcd's documents of the primaries
	single  bool        // each shard has one server
	more    string      // tables that are declared too
	apart   *etcd.KV    // of the proxy that has its own link to etcd
	file    string      // the file that declares a cluster with failover: promote
	blind   sync.Map    // address of a proxy → address of the server that it doesn't reach
}

const schema = harness.Schema

func start(t *testing.T, engine servers.Engine) *stand {
	t.Helper()
	args := []string{"--log-replica-updates=ON", "--plugin-load-add=mysql_clone.so"}
	if engine == servers.MariaDB {
		args = []string{"--log-slave-updates=ON"}
	}
	s := open(t, engine, servers.Start(t, engine, 3, args...))
	s.prepare(t, engine)
	s.declare(t, "none")
	for range 2 {
		s.serve(t)
	}
	return s
}

// open starts etcd. All of the cluster reaches it by a link.
func open(t *testing.T, engine servers.Engine, at []*servers.Server) *stand {
	t.Helper()
	s := &stand{servers: at, Cluster: harness.Start(t, engine, harness.Options{Bare: true, Linked: true})}
	s.kv = s.Connect(s.Etcd.Link.Addr(), 0)
	s.tellLogs(t)
	return s
}

// tellLogs prints the end of the servers' logs if the test fails.
func (s *stand) tellLogs(t *testing.T) {
	all := s.servers
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		for i, at := range all {
			said, err := os.ReadFile(at.Log())
			lines := strings.Split(strings.TrimSpace(string(said)), "\n")
			t.Logf("server %d at %s, %v:\n%s", i, at.Addr(), err, strings.Join(lines[max(0, len(lines)-40):], "\n"))
		}
	})
}

// prepare makes the accounts and the tables, and has the second server follow.
func (s *stand) prepare(t *testing.T, engine servers.Engine) {
	t.Helper()
	s.servers[1].Follow(t, s.servers[0])
	statements := accounts(engine)
	for _, i := range []int{0, 2} {
		s.servers[i].Exec(t, statements...)
	}
	s.servers[2].Exec(t, "DROP TABLE "+schema+".setting")
	readOnly := "SET GLOBAL super_read_only = ON"
	if engine == servers.MariaDB {
		readOnly = "SET GLOBAL read_only = ON"
	}
	s.servers[1].Exec(t, readOnly)
}

// accounts returns the statements that create the accounts of the proxies and for role changes, and the tables.
func accounts(engine servers.Engine) []string {
	statements := []string{
		"CREATE USER shop IDENTIFIED BY '" + servers.Password + "'", "CREATE USER chief IDENTIFIED BY '" + servers.Password + "'",
		"GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, LOCK TABLES, CREATE TEMPORARY TABLES, CREATE VIEW, SHOW VIEW, TRIGGER, EVENT, PROCESS, REPLICATION CLIENT, REPLICATION SLAVE ON *.* TO shop",
		"GRANT RELOAD, PROCESS, REPLICATION CLIENT, REPLICATION SLAVE ON *.* TO chief",
	}
	if engine == servers.MariaDB {
		statements = append(statements, "GRANT REPLICA MONITOR ON *.* TO shop",
			"GRANT READ_ONLY ADMIN, REPLICATION SLAVE ADMIN, REPLICATION MASTER ADMIN, REPLICA MONITOR, CONNECTION ADMIN, BINLOG ADMIN, BINLOG REPLAY ON *.* TO chief")
	} else {
		statements = append(statements, "GRANT XA_RECOVER_ADMIN ON *.* TO shop",
			"GRANT SYSTEM_VARIABLES_ADMIN, REPLICATION_SLAVE_ADMIN, CONNECTION_ADMIN, XA_RECOVER_ADMIN, BACKUP_ADMIN, CLONE_ADMIN ON *.* TO chief")
	}
	return append(statements, "CREATE DATABASE locus", "CREATE DATABASE "+schema,
		"CREATE TABLE "+schema+".counter (uid BIGINT NOT NULL PRIMARY KEY, n BIGINT NOT NULL, "+catalog.OwnGeneDefinition+")",
		"CREATE TABLE "+schema+".setting (name VARCHAR(64) NOT NULL PRIMARY KEY, value BIGINT)")
}

// declare declares the same cluster with another kind of failover for s0.
func (s *stand) declare(t *testing.T, failover cluster.Failover) {
	t.Helper()
	last := len(s.servers) - 1
	var several []string
	for _, at := range s.servers[:last] {
		several = append(several, at.Addr())
	}
	s.Declare(fmt.Sprintf(`schema: 1
shards:
  s0: {servers: [%s], failover: %s, user: shop, secret: shard, admin: {user: chief, secret: shard}}
  s1: {address: %q, user: shop, secret: shard}
tables:
  %[4]s.counter: {kind: sharded, owner: uid}
  %[4]s.setting: {kind: single, shard: s0}
%[5]susers:
  app: {secret: app}
  dba: {secret: app, admin: true}
routes: |
  0x7fff s0
  0xffff s1
`, strings.Join(several, ", "), failover, s.servers[last].Addr(), schema, s.more))
}

// serve runs a proxy.
func (s *stand) serve(t *testing.T) {
	t.Helper()
	s.serveBy(t, s.kv)
}

// serveApart runs a proxy with its own link to etcd.
func (s *stand) serveApart(t *testing.T) *link.Link {
	t.Helper()
	way := link.New(t, s.Etcd.Addr())
	s.apart = s.Connect(way.Addr(), 0)
	s.serveBy(t, s.apart)
	return way
}

func (s *stand) serveBy(t *testing.T, kv *etcd.KV) {
	t.Helper()
	i := len(s.proxies)
	p := s.StartOwn(kv, func(w *harness.Wiring) {
		w.Proxy.RecoveryPatience, w.Proxy.DrainTimeout = 0, 0 // as in the binary
		epochs, seen, name := w.Proxy.Fence.Epochs, w.Answers[fleet.Servers], w.Proxy.Name
		w.Proxy.Fence.Epochs = func(ctx context.Context) (map[router.ShardName]int64, error) {
			if i == 1 && s.away.Load() {
				return nil, errors.New("cut off from etcd")
			}
			return epochs(ctx)
		}
		w.Answers[fleet.Servers] = func() any { return s.sees(name, seen().([]health.Status)) }
	})
	s.proxies = append(s.proxies, p)
	servers.Eventually(t, "the proxy is known", func() error {
		pairs, _, err := s.kv.GetPrefix(t.Context(), cluster.ProxyPrefix+p.Addr)
		var known fleet.Card
		if err == nil && len(pairs) == 1 {
			err = json.Unmarshal(pairs[0].Value, &known)
		}
		if err == nil && known.Primaries["s0"] == 0 && !s.single {
			err = fmt.Errorf("its card: %+v", known)
		}
		return err
	})
}

// stop ends the proxies.
func (s *stand) stop() {
	for _, p := range s.proxies {
		p.Stop()
	}
	s.proxies = nil
}

// last returns the proxy that was started last.
func (s *stand) last() *harness.Own { return s.proxies[len(s.proxies)-1] }

func (s *stand) secret(string) (string, error) { return servers.Password, nil }

// db logs in to a proxy. A write that no replica acknowledges never gets an answer, so the connections have a
// read timeout.
func (s *stand) db(t *testing.T, proxy int, user string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", fmt.Sprintf("%s:%s@tcp(%s)/%s?allowNativePasswords=true&readTimeout=90s", user, servers.Password, s.proxies[proxy].Addr, schema))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// addr returns the address by which the cluster reaches a server.
func (s *stand) addr(server int) string {
	if server < len(s.ways) {
		return s.ways[server].Addr()
	}
	return s.servers[server].Addr()
}

// to returns a switchover that makes a server of s0 the primary.
func (s *stand) to(server int) switchover.Switchover {
	return switchover.Switchover{
		KV: s.kv, Secrets: s.secret, Shard: "s0", To: s.addr(server), By: "test", Log: slog.New(slog.DiscardHandler),
	}
}

// lookAfter watches the shards' servers, as a mover does, until the test ends.
func (s *stand) lookAfter(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	runner := &failover.Runner{
		KV: s.kv, Secrets: s.secret, Declared: s.last().Declared, Name: "mover", Log: slog.New(slog.DiscardHandler), Look: 50 * time.Millisecond,
	}
	if golden.Updating() {
		runner.Look, runner.Log = time.Second, slog.New(s.record(t)) // the interval of the product
	}
	var running sync.WaitGroup
	running.Go(func() { _ = runner.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
}

// wantPrimary checks etcd and both servers: one is the primary, and the other is read-only and follows it.
func (s *stand) wantPrimary(t *testing.T, server int) {
	t.Helper()
	p, err := declared.ReadPrimary(t.Context(), s.kv, "s0")
	if err != nil || p.Server != s.servers[server].Addr() || !p.Settled() || p.Held {
		t.Errorf("the document says %+v, %v", p.Primary, err)
	}
	for i, at := range s.servers[:2] {
		var readOnly bool
		if err := at.DB(t, "").QueryRow("SELECT @@GLOBAL.read_only").Scan(&readOnly); err != nil || readOnly != (i != server) {
			t.Errorf("server %d is read-only: %v, %v", i, readOnly, err)
		}
	}
	servers.Eventually(t, "the other one has all", func() error {
		want, have := s.sum(t, server), s.sum(t, 1-server)
		if want != have {
			return fmt.Errorf("the primary has %d, the other %d", want, have)
		}
		return nil
	})
}

// sum returns the sum of all counters on a server.
func (s *stand) sum(t *testing.T, server int) (n int64) {
	t.Helper()
	db := s.servers[server].DB(t, schema)
	defer db.Close()
	if err := db.QueryRow("SELECT COALESCE(SUM(n), 0) FROM counter").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
