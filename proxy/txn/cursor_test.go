package txn

import (
	"testing"

	"locus/proxy/backend"
	"locus/router"
)

// opened makes a shard open a cursor.
func (s *stand) opened(l Lease) *Cursor {
	s.t.Helper()
	there, _, err := l.Conn.Prepare(s.t.Context(), "SELECT a")
	if err != nil {
		s.t.Fatal(err)
	}
	cursor := l.Open(there)
	l.Done(l.Conn.Status())
	return cursor
}

// A connection with cursors stays with the session, and further cursors are opened on it.
func TestCursors(t *testing.T) {
	s := newStand(t, XA)
	l := s.acquire("s0", Scrolls)
	first := s.opened(l)
	if first.Conn() != l.Conn || !s.KeepsAny() || len(s.client.Awaited) != 1 {
		t.Error("it was given back")
	}
	again := s.acquire("s0", Scrolls)
	if again.Conn != l.Conn {
		t.Error("the second is on another connection")
	}
	second := s.opened(again)
	if other := s.acquire("s0", 0); other.Conn == l.Conn {
		t.Error("statements without a cursor are sent there")
	} else {
		other.Release()
	}
	first.Close()
	first.Close()
	if first.Conn() != nil || second.Conn() != l.Conn {
		t.Error("closing one closes the other")
	}
	second.Close()
	if s.KeepsAny() || len(s.client.Awaited) != 0 {
		t.Error("it is kept")
	}
	var none *Cursor
	none.Close()
	none.Lost()
	if none.Conn() != nil {
		t.Error("there is none")
	}
}

// Cursors stay readable after the end of the transaction in which they were opened.
func TestCursorsOutliveTheTransaction(t *testing.T) {
	s := newStand(t, XA)
	begin(t, s)
	s.must("s0", "UPDATE a", Writes)
	cursor := s.opened(s.acquire("s0", Scrolls))
	s.must("s0", "UPDATE b", Writes)
	if err := s.Commit(); err != nil {
		t.Error(err)
	}
	if cursor.Conn() == nil {
		t.Fatal("it is closed")
	}
	s.Reset()
	if cursor.Conn() != nil || s.KeepsAny() {
		t.Error("it is open after all")
	}
}

// If a connection is lost while a cursor is read, the transaction that has the connection is lost too.
func TestCursorsAreLost(t *testing.T) {
	s := newStand(t, XA)
	cursor := s.opened(s.acquire("s0", Scrolls))
	cursor.Lost()
	if cursor.Conn() != nil || s.KeepsAny() || s.Lost() {
		t.Error("something is left")
	}
	begin(t, s)
	s.must("s0", "UPDATE a", Writes)
	cursor = s.opened(s.acquire("s0", Scrolls))
	other := s.opened(s.acquire("s0", Scrolls))
	cursor.Lost()
	if cursor.Conn() != nil || other.Conn() != nil || !s.Lost() {
		t.Error("it goes on")
	}
	s.is(false)
}

// A read that may be late goes to a replica, if there is one. It goes to the primary if the session keeps a connection.
func TestLate(t *testing.T) {
	s := newStand(t, XA)
	pool, _ := s.Pools.Pool("s1")
	s.Pools = replicas{s.Pools, pool}
	l := s.acquire("s0", Late)
	if l.Pool != pool || s.Counts.OnReplicas.Load() != 1 {
		t.Error("it is sent to the primary")
	}
	l.Done(l.Conn.Status())
	s.client.Refused = errUnwanted
	if _, err := s.Acquire("s0", Late); err == nil {
		t.Error("what was cancelled is sent")
	}
	s.client.Refused = nil
	s.reserve("s0", NamedLock)
	if l := s.acquire("s0", Late); l.Pool == pool {
		t.Error("it is sent to the replica")
	} else {
		l.Release()
	}
}

// replicas are pools, one of which is the replica of every shard.
type replicas struct {
	Pools
	replica *backend.Pool
}

func (r replicas) Replica(router.ShardName) (*backend.Pool, bool) { return r.replica, true }
