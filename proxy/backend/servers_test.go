package backend

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"locus/cmd/dbserver"
)

// The account that the tests' pools log in with.
const (
	proxyUser     = "proxy"
	proxyPassword = `pa'ss\wörd`
)

// fleet holds one server per engine, started when a test first wants it.
var fleet = struct {
	mu      sync.Mutex
	dir     string
	servers map[dbserver.Engine]*dbserver.Server
}{servers: map[dbserver.Engine]*dbserver.Server{}}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, s := range fleet.servers {
		_ = s.Kill()
	}
	if fleet.dir != "" {
		_ = os.RemoveAll(fleet.dir)
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// engines runs a test against the shared server of each engine. One that is missing is a failure.
func engines(t *testing.T, test func(t *testing.T, s *dbserver.Server)) {
	for _, engine := range dbserver.Engines() {
		t.Run(string(engine), func(t *testing.T) { test(t, sharedServer(t, engine)) })
	}
}

func sharedServer(t testing.TB, engine dbserver.Engine) *dbserver.Server {
	t.Helper()
	fleet.mu.Lock()
	defer fleet.mu.Unlock()
	if s := fleet.servers[engine]; s != nil {
		return s
	}
	if fleet.dir == "" {
		dir, err := os.MkdirTemp("", "locus-backend-")
		if err != nil {
			t.Fatal(err)
		}
		fleet.dir = dir
	}
	s := startServer(t, engine, filepath.Join(fleet.dir, string(engine)), 0)
	for _, db := range []string{"one", "two", "three"} {
		execute(t, s, "CREATE DATABASE "+db, "CREATE TABLE "+db+".place (name VARCHAR(20), n INT)",
			"INSERT INTO "+db+".place VALUES ('"+db+"', 1)")
	}
	fleet.servers[engine] = s
	return s
}

// startServer starts a server of the test's own and makes the pools' account there.
func startServer(t testing.TB, engine dbserver.Engine, dir string, port int) *dbserver.Server {
	t.Helper()
	installation, err := dbserver.Find(t.Context(), engine, "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := dbserver.Start(t.Context(), installation, dbserver.Options{
		Dir: dir, Port: port, BufferPool: 32 << 20, Templates: filepath.Join(os.TempDir(), "locus-server-templates"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CreateUser(t.Context(), dbserver.User{Name: proxyUser, Password: proxyPassword}); err != nil {
		t.Fatal(err)
	}
	return s
}

func execute(t testing.TB, s *dbserver.Server, statements ...string) {
	t.Helper()
	if err := s.Execute(t.Context(), statements...); err != nil {
		t.Fatal(err)
	}
}

func target(s *dbserver.Server) Target {
	return Target{Shard: "s7", Addr: s.Addr(), User: proxyUser, Password: func() (string, error) { return proxyPassword, nil }}
}

// realPool is a pool on a real server; when the test ends it must have got everything back.
func realPool(t testing.TB, target Target, l Limits) *Pool {
	t.Helper()
	p := NewPool(target, l, slog.New(slog.NewTextHandler(io.Discard, nil)))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := p.Close(ctx); err != nil {
			t.Errorf("at the end of the test: %v", err)
		}
	})
	return p
}

// value is the only value of a query's answer.
func value(t testing.TB, c *Conn, sql string) string {
	t.Helper()
	rows, err := c.Query(t.Context(), sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	if len(rows.Rows) != 1 || len(rows.Columns) != 1 {
		t.Fatalf("%s: %d columns, %d rows", sql, len(rows.Columns), len(rows.Rows))
	}
	if rows.Rows[0][0] == nil {
		return "NULL"
	}
	return string(rows.Rows[0][0])
}

func exec(t testing.TB, c *Conn, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		if _, err := c.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// eventually polls a real server.
func eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-deadline:
			t.Fatalf("waited in vain: %s", what)
		case <-tick.C:
		}
	}
}

func closeNow(t testing.TB, p *Pool) {
	t.Helper()
	if err := p.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
