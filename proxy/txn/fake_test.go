package txn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/fakeshard"
	"locus/proxy/backend"
	"locus/proxy/twophase"
	"locus/router"
)

// sent returns the statements that a shard was sent since the last call, without settings.
func sent(shard *fakeshard.Server) []string {
	taken := shard.Statements()
	for i := range taken {
		taken[i] = strings.ReplaceAll(taken[i], fmt.Sprintf("'t1','s0',%d", twophase.Format), "t1")
	}
	return taken
}

// stand contains a session's connections to three shards. When the test ends, all connections must have been returned to their
// pools.
type stand struct {
	t testing.TB
	*Connections
	client      *fakeshard.Client
	coordinator *fakeshard.Coordinator
	shards      map[router.ShardName]*fakeshard.Server
	stops       []string
}

func newStand(t testing.TB, spanning Spanning) *stand {
	t.Helper()
	c := fakeshard.NewCluster(t)
	s := &stand{t: t, client: c.Client, coordinator: &fakeshard.Coordinator{}, shards: c.Shards}
	services := &Services{
		Pools: c.Pools, Spanning: spanning, Coordinator: s.coordinator, Counts: &Counts{}, Log: slog.New(slog.DiscardHandler),
		Stop: func(point string) { s.stops = append(s.stops, point) },
	}
	s.Connections = New(services, Environment{ID: 7, Context: context.Background(), Client: s.client, Interrupts: s.client, Observer: s.client})
	t.Cleanup(func() {
		s.Reset()
		for _, r := range Reasons() {
			if now, _ := s.Counts.Reserved(r); now != 0 {
				t.Errorf("%d are still reserved for %s", now, r)
			}
		}
	})
	return s
}

// run runs a statement in the way of a session.
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

// must is run for statements that must succeed.
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

// sent checks the statements that a shard was sent since the last check.
func (s *stand) sent(shard router.ShardName, want ...string) {
	s.t.Helper()
	if got := sent(s.shards[shard]); !slices.Equal(got, want) {
		s.t.Errorf("%s was sent %q, want %q", shard, got, want)
	}
}

// is checks whether statements join a transaction, and its shards.
func (s *stand) is(running bool, shards ...router.ShardName) {
	s.t.Helper()
	if s.Running() != running || !slices.Equal(s.Shards(), shards) {
		s.t.Errorf("running: %t on %v, want %t on %v", s.Running(), s.Shards(), running, shards)
	}
}

// ended checks how many transactions on one and on several shards have had an outcome.
func (s *stand) ended(v twophase.Verdict, one, several uint64) {
	s.t.Helper()
	if a, b := s.Counts.Transactions.One(v), s.Counts.Transactions.Several(v); a != one || b != several {
		s.t.Errorf("%d and %d are %v, want %d and %d", a, b, v, one, several)
	}
}

// says checks the number of an error and a part of its text.
func says(t testing.TB, err error, code uint16, text string) {
	t.Helper()
	e, ok := errors.AsType[*mysql.MyError](err)
	if code != 0 && (!ok || e.Code != code) || err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%v, want error %d with %q", err, code, text)
	}
}
