package exec

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/flavor"
	"locus/proxy/trace"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/test/fakeshard"
)

// fakeClient is a session as its connections see it.
type fakeClient struct {
	autocommit bool
	awaited    int
	unwanted   error // why nothing more is sent
	settings   func() *backend.Settings
}

func (c *fakeClient) Settings() *backend.Settings {
	if c.settings != nil {
		return c.settings()
	}
	if !c.autocommit {
		return backend.Default.With("autocommit", "0")
	}
	return backend.Default
}
func (c *fakeClient) Profile() backend.Profile { return 0 }
func (c *fakeClient) Autocommit() bool         { return c.autocommit }
func (c *fakeClient) Flavor() flavor.Flavor    { return flavor.MariaDB }
func (c *fakeClient) Unwanted() error          { return c.unwanted }
func (c *fakeClient) Waits() context.Context   { return context.Background() }
func (c *fakeClient) Shield()                  {}
func (c *fakeClient) Unshield()                {}
func (c *fakeClient) Waited(time.Duration)     {}
func (c *fakeClient) Trace() *trace.Statement  { return nil }
func (c *fakeClient) Reserves()                {}

func (c *fakeClient) Await(*backend.Pool, *backend.Conn) error { c.awaited++; return nil }
func (c *fakeClient) Remove(*backend.Conn) bool                { c.awaited--; return false }

// fakeStatement is sent as a session would send it.
type fakeStatement struct {
	unsent map[router.ShardName]error
	warned []router.ShardName
	traced *trace.Statement
}

func (f *fakeStatement) Send(l txn.Lease, text []byte, _ []wire.Param) error {
	if err := f.unsent[l.Shard]; err != nil {
		return err
	}
	var out []byte
	for _, sql := range l.Opening() {
		out, _ = wire.AppendCommand(out, mysql.COM_QUERY, []byte(sql))
	}
	out, _ = wire.AppendCommand(out, mysql.COM_QUERY, text)
	if err := l.Conn.Send(out, backend.Nothing); err != nil {
		return err
	}
	for range l.Opening() {
		if _, err := l.Conn.Outcome(); err != nil {
			return l.Conn.Lost(true, err)
		}
	}
	return nil
}

func (f *fakeStatement) Warned(l txn.Lease)      { f.warned = append(f.warned, l.Shard) }
func (f *fakeStatement) Trace() *trace.Statement { return f.traced }

// stand is a session with three shards. When the test ends, each pool must have got everything back.
type stand struct {
	Several
	t      testing.TB
	client *fakeClient
	of     *fakeStatement
	shards map[router.ShardName]*fakeshard.Server
}

func newStand(t testing.TB) *stand {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	pools := backend.NewRegistry(backend.Limits{}, log)
	s := &stand{t: t, client: &fakeClient{autocommit: true}, of: &fakeStatement{unsent: map[router.ShardName]error{}}, shards: map[router.ShardName]*fakeshard.Server{}}
	var targets []backend.Target
	for _, name := range []router.ShardName{"s0", "s1", "s2"} {
		s.shards[name] = fakeshard.Start(t)
		targets = append(targets, s.shards[name].Target(name))
	}
	pools.Apply(targets)
	conns := txn.New(&txn.Services{Pools: pools, Spanning: txn.Multi, Counts: &txn.Counts{}, Log: log},
		txn.Environment{ID: 7, Context: context.Background(), Client: s.client, Interrupts: s.client, Observer: s.client})
	s.Several = Several{Of: s.of, Conns: conns, Mode: txn.Writes}
	t.Cleanup(func() {
		conns.Reset()
		if s.client.awaited != 0 {
			t.Errorf("%d connections are still awaited", s.client.awaited)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second) // of what is missing
		defer cancel()
		if err := pools.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

// begin opens a transaction that has s0 and s1.
func (s *stand) begin() {
	s.t.Helper()
	s.client.autocommit = false
	s.Conns.Imply()
	if _, err := s.Change(parts("UPDATE a", "s0", "s1")); err != nil {
		s.t.Fatal(err)
	}
	s.statements("s0")
	s.statements("s1")
}

// parts are one text for several shards.
func parts(text string, shards ...router.ShardName) []Part {
	var out []Part
	for _, shard := range shards {
		out = append(out, Part{Shard: shard, Text: []byte(text)})
	}
	return out
}

// statements gives what a shard was sent since the last time, but for settings.
func (s *stand) statements(shard router.ShardName) []string {
	return slices.DeleteFunc(s.shards[shard].Sent(), func(text string) bool { return strings.HasPrefix(text, "SET ") || text == "RESET" })
}

// sent checks what each shard was sent since the last time.
func (s *stand) sent(want map[router.ShardName]string) {
	s.t.Helper()
	for shard := range s.shards {
		if got := strings.Join(s.statements(shard), "; "); got != want[shard] {
			s.t.Errorf("%s was sent %q, want %q", shard, got, want[shard])
		}
	}
}

// refused tells a shard's own error of a number.
func refused(err error, code uint16) bool {
	e, ok := errors.AsType[*mysql.MyError](err)
	return ok && e.Code == code
}

// lost tells the error of a connection that was lost.
func lost(err error) bool {
	_, ok := errors.AsType[*backend.LostError](err)
	return ok
}
