package exec

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/trace"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/test/fakeshard"
)

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
	client *fakeshard.Client
	of     *fakeStatement
	shards map[router.ShardName]*fakeshard.Server
}

func newStand(t testing.TB) *stand {
	t.Helper()
	c := fakeshard.NewCluster(t)
	s := &stand{t: t, client: c.Client, of: &fakeStatement{unsent: map[router.ShardName]error{}}, shards: c.Shards}
	conns := txn.New(&txn.Services{Pools: c.Pools, Spanning: txn.Multi, Counts: &txn.Counts{}, Log: slog.New(slog.DiscardHandler)},
		txn.Environment{ID: 7, Context: context.Background(), Client: s.client, Interrupts: s.client, Observer: s.client})
	s.Several = Several{Of: s.of, Conns: conns, Mode: txn.Writes}
	t.Cleanup(conns.Reset)
	return s
}

// begin opens a transaction that has s0 and s1.
func (s *stand) begin() {
	s.t.Helper()
	s.client.Values.Autocommit = false
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
func (s *stand) statements(shard router.ShardName) []string { return s.shards[shard].Statements() }

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
