package txn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/flavor"
	"locus/proxy/trace"
	"locus/proxy/twophase"
	"locus/router"
	"locus/test/fakeshard"
)

// sent gives what a shard was sent since the last time, but for settings.
func sent(shard *fakeshard.Server) []string {
	taken := slices.DeleteFunc(shard.Sent(), func(text string) bool {
		return strings.HasPrefix(text, "SET ") && !strings.HasPrefix(text, "SET TRANSACTION") || text == "RESET"
	})
	for i := range taken {
		taken[i] = strings.ReplaceAll(taken[i], fmt.Sprintf("'t1','s0',%d", twophase.Format), "t1")
	}
	return taken
}

// fakeClient is a session as its connections see it.
type fakeClient struct {
	t          testing.TB
	settings   *backend.Settings
	autocommit bool
	flavor     flavor.Flavor

	unwanted, refused error
	awaited           []*backend.Conn
	killed            bool // whatever is taken out was hit by a kill
	shielded, shields int
	waited            int
	changes           int
}

func (c *fakeClient) Settings() *backend.Settings {
	if !c.autocommit {
		return c.settings.With("autocommit", "0")
	}
	return c.settings
}
func (c *fakeClient) Profile() backend.Profile { return 0 }
func (c *fakeClient) Autocommit() bool         { return c.autocommit }
func (c *fakeClient) Flavor() flavor.Flavor    { return c.flavor }
func (c *fakeClient) Unwanted() error          { return c.unwanted }
func (c *fakeClient) Waits() context.Context   { return context.Background() }
func (c *fakeClient) Shield()                  { c.shielded++; c.shields++ }
func (c *fakeClient) Unshield()                { c.shielded-- }
func (c *fakeClient) Waited(time.Duration)     { c.waited++ }
func (c *fakeClient) Trace() *trace.Statement  { return nil }
func (c *fakeClient) Reserves()                { c.changes++ }

func (c *fakeClient) Await(_ *backend.Pool, conn *backend.Conn) error {
	if c.refused != nil {
		return c.refused
	}
	c.awaited = append(c.awaited, conn)
	return nil
}

func (c *fakeClient) Remove(conn *backend.Conn) bool {
	if !slices.Contains(c.awaited, conn) {
		c.t.Errorf("a connection to %s is given back twice", conn.Shard())
	}
	c.awaited = slices.DeleteFunc(c.awaited, func(other *backend.Conn) bool { return other == conn })
	return c.killed
}

// fakeCoordinator names transactions t1, t2, …
type fakeCoordinator struct {
	names   int
	unready map[router.ShardName]error
	verdict twophase.Verdict
	settled error
	calls   []string
}

func (f *fakeCoordinator) Ready(_ context.Context, shard router.ShardName) error {
	return f.unready[shard]
}

func (f *fakeCoordinator) Name(home router.ShardName) twophase.Name {
	f.names++
	return twophase.Name{Transaction: fmt.Sprintf("t%d", f.names), Home: home}
}

func (f *fakeCoordinator) Decide(_ twophase.Name, branches []router.ShardName) string {
	return fmt.Sprintf("INSERT decision %v", branches)
}

func (f *fakeCoordinator) Doubt(shard router.ShardName) {
	f.calls = append(f.calls, "doubt "+string(shard))
}

func (f *fakeCoordinator) Settle(context.Context, twophase.Name) (twophase.Verdict, error) {
	f.calls = append(f.calls, "settle")
	return f.verdict, f.settled
}

func (f *fakeCoordinator) Forget(n twophase.Name) { f.calls = append(f.calls, "forget "+n.Transaction) }

func (f *fakeCoordinator) Leave(n twophase.Name) { f.calls = append(f.calls, "leave "+n.Transaction) }

// stand is a session's connections to three shards. When the test ends, each pool must have
// got everything back.
type stand struct {
	t testing.TB
	*Connections
	client      *fakeClient
	coordinator *fakeCoordinator
	shards      map[router.ShardName]*fakeshard.Server
	stops       []string
}

func newStand(t testing.TB, spanning Spanning) *stand {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	pools := backend.NewRegistry(backend.Limits{}, log)
	s := &stand{
		t: t, client: &fakeClient{t: t, settings: backend.Default, autocommit: true}, coordinator: &fakeCoordinator{},
		shards: map[router.ShardName]*fakeshard.Server{},
	}
	var targets []backend.Target
	for _, name := range []router.ShardName{"s0", "s1", "s2"} {
		s.shards[name] = fakeshard.Start(t)
		targets = append(targets, s.shards[name].Target(name))
	}
	pools.Apply(targets)
	services := &Services{
		Pools: pools, Spanning: spanning, Coordinator: s.coordinator, Counts: &Counts{}, Log: log,
		Stop: func(point string) { s.stops = append(s.stops, point) },
	}
	s.Connections = New(services, Environment{ID: 7, Context: context.Background(), Client: s.client, Interrupts: s.client, Observer: s.client})
	t.Cleanup(func() {
		s.Reset()
		if n := len(s.client.awaited); n != 0 {
			t.Errorf("%d connections are still awaited", n)
		}
		if s.client.shielded != 0 {
			t.Errorf("shielded %d times more than unshielded", s.client.shielded)
		}
		for _, r := range Reasons() {
			if now, _ := s.Counts.Reserved(r); now != 0 {
				t.Errorf("%d are still reserved for %s", now, r)
			}
		}
		if err := pools.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// run runs a statement as a session would.
func (s *stand) run(shard router.ShardName, text string, m Mode) error {
	l, err := s.Acquire(shard, m)
	if err != nil {
		return err
	}
	for _, sql := range append(slices.Clone(l.Opening()), text) {
		if _, err := l.Conn.Run(context.Background(), sql, backend.Nothing); err != nil {
			l.Fail(err)
			return err
		}
	}
	l.Done(l.Conn.Status())
	return nil
}

// must is run of what goes well.
func (s *stand) must(shard router.ShardName, text string, m Mode) {
	s.t.Helper()
	if err := s.run(shard, text, m); err != nil {
		s.t.Fatalf("%s on %s: %v", text, shard, err)
	}
}

func (s *stand) acquire(shard router.ShardName, m Mode) Lease {
	s.t.Helper()
	l, err := s.Acquire(shard, m)
	if err != nil {
		s.t.Fatal(err)
	}
	return l
}

// sent checks what a shard was sent since the last time.
func (s *stand) sent(shard router.ShardName, want ...string) {
	s.t.Helper()
	if got := sent(s.shards[shard]); !slices.Equal(got, want) {
		s.t.Errorf("%s was sent %q, want %q", shard, got, want)
	}
}

// is checks what the session has.
func (s *stand) is(running bool, shards ...router.ShardName) {
	s.t.Helper()
	if s.Running() != running || !slices.Equal(s.Shards(), shards) {
		s.t.Errorf("running: %t on %v, want %t on %v", s.Running(), s.Shards(), running, shards)
	}
}

// ended checks how many transactions on one and on several shards have ended so.
func (s *stand) ended(v twophase.Verdict, one, several uint64) {
	s.t.Helper()
	if a, b := s.Counts.Transactions.One(v), s.Counts.Transactions.Several(v); a != one || b != several {
		s.t.Errorf("%d and %d are %v, want %d and %d", a, b, v, one, several)
	}
}

// says checks an error's number and a part of its text.
func says(t testing.TB, err error, code uint16, text string) {
	t.Helper()
	e, ok := errors.AsType[*mysql.MyError](err)
	if code != 0 && (!ok || e.Code != code) || err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%v, want error %d with %q", err, code, text)
	}
}
