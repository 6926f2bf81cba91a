//go:build servers

package backend

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"locus/internal/test/servers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(servers.Runner{M: m}) }

// engines runs a test against the shared server of each engine.
func engines(t *testing.T, test func(t *testing.T, s *servers.Server)) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) { test(t, sharedServer(t, engine)) })
}

var furnished sync.Map // servers that have the databases

// sharedServer returns a server with three databases. Each has a table place that contains its name.
func sharedServer(t testing.TB, engine servers.Engine) *servers.Server {
	t.Helper()
	s := servers.Shared(t, engine, 1)[0]
	if _, done := furnished.LoadOrStore(s, true); !done {
		for _, db := range []string{"one", "two", "three"} {
			s.Exec(t, "CREATE DATABASE "+db, "CREATE TABLE "+db+".place (name VARCHAR(20), n INT)",
				"INSERT INTO "+db+".place VALUES ('"+db+"', 1)")
		}
	}
	return s
}

func target(s *servers.Server) Target {
	return Target{Shard: "s7", Addr: s.Addr(), User: s.User, Password: func() (string, error) { return s.Password, nil }}
}

// realPool returns a pool on a real server. At the end of the test all connections must have been returned.
func realPool(t testing.TB, target Target, l Limits) *Pool {
	t.Helper()
	p := NewPool(target, l, slog.New(slog.NewTextHandler(io.Discard, nil)))
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := p.Close(ctx); err != nil {
			t.Errorf("at the end of the test: %v", err)
		}
	})
	return p
}

// value returns the only value of a query's result.
func value(t testing.TB, c *Conn, sql string) string {
	t.Helper()
	rows, err := c.Own().Query(t.Context(), sql)
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

// TestConnectionsAreMarked checks that the server's process list shows whose connection it is, also after a
// reset.
func TestConnectionsAreMarked(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		server := servers.Shared(t, engine, 1)[0]
		target := Target{Shard: "s0", Addr: server.Addr(), User: server.User, Password: func() (string, error) { return server.Password, nil }, Mark: "locus:test:"}
		c, err := login(t.Context(), target, 0, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		defer c.close()
		holder := func() (id string) {
			if err := server.DB(t, "").QueryRow("SELECT COALESCE(IS_USED_LOCK(?), 'nobody')", fmt.Sprintf("locus:test:%d", c.ThreadID())).Scan(&id); err != nil {
				t.Fatal(err)
			}
			return id
		}
		want := fmt.Sprint(c.ThreadID())
		if got := holder(); got != want {
			t.Errorf("%s holds the mark of %s", got, want)
		}
		if err := c.Reset(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := holder(); got != want {
			t.Errorf("after a reset %s holds the mark of %s", got, want)
		}
		if _, err := c.Query(t.Context(), "SELECT RELEASE_ALL_LOCKS()"); err != nil {
			t.Fatal(err)
		}
		if err := c.Remark(t.Context()); err != nil || holder() != want {
			t.Errorf("marked anew: %v, %s holds the mark of %s", err, holder(), want)
		}
	})
}
