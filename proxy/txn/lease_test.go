package txn

import (
	"context"
	"errors"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/fakeshard"
	"locus/proxy/backend"
	"locus/proxy/flavor"
	"locus/proxy/twophase"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/stmt"
)

// A statement outside of a transaction leaves nothing, whatever its outcome.
func TestAStatementByItself(t *testing.T) {
	for name, f := range map[string]fakeshard.Reply{
		"done": {Prefix: "none"}, "refused": {Prefix: "UPDATE", Code: 1062}, "lost before": {Prefix: "UPDATE", Cut: fakeshard.Before},
		"lost within": {Prefix: "UPDATE", Cut: fakeshard.Within}, "deadlock": {Prefix: "UPDATE", Code: mysql.ER_LOCK_DEADLOCK},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStand(t, XA)
			s.shards["s0"].Next(f)
			if err := s.run("s0", "UPDATE a", Writes); (err == nil) != (name == "done") {
				t.Error(err)
			}
			s.is(false)
			if s.Lost() || s.KeepsAny() {
				t.Error("something is left")
			}
			s.must("s0", "UPDATE b", Writes)
			s.sent("s0", "UPDATE a", "UPDATE b")
		})
	}
}

// The outcomes of a statement in a transaction of two shards.
func TestAStatementInATransaction(t *testing.T) {
	for name, c := range map[string]struct {
		fakeshard.Reply
		running, lost bool
		asked         bool // whether the server is asked if the transaction is open
	}{
		"done":              {fakeshard.Reply{Prefix: "none"}, true, false, false},
		"refused":           {fakeshard.Reply{Prefix: "UPDATE", Code: 1062}, true, false, false},
		"lost before":       {fakeshard.Reply{Prefix: "UPDATE", Cut: fakeshard.Before}, false, true, false},
		"lost within":       {fakeshard.Reply{Prefix: "UPDATE", Cut: fakeshard.Within}, false, true, false},
		"deadlock":          {fakeshard.Reply{Prefix: "UPDATE", Code: mysql.ER_LOCK_DEADLOCK, Ends: true}, false, false, false},
		"timeout":           {fakeshard.Reply{Prefix: "UPDATE", Code: mysql.ER_LOCK_WAIT_TIMEOUT}, true, false, true},
		"timeout that ends": {fakeshard.Reply{Prefix: "UPDATE", Code: mysql.ER_LOCK_WAIT_TIMEOUT, Ends: true}, false, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStand(t, XA)
			begin(t, s)
			s.must("s0", "UPDATE a", Writes)
			s.must("s1", "SELECT a", 0)
			s.sent("s0", "BEGIN", "UPDATE a")
			s.sent("s1", "XA START t1", "SELECT a")
			s.shards["s0"].Next(c.Reply)
			if err := s.run("s0", "UPDATE b", Writes); (err == nil) != (name == "done") {
				t.Error(err)
			}
			if s.Running() != c.running || s.Lost() != c.lost {
				t.Errorf("running: %t, lost: %t", s.Running(), s.Lost())
			}
			want := []string{"UPDATE b"}
			if c.asked {
				want = append(want, "DO 0")
			}
			if !c.running {
				s.sent("s1", "XA END t1", "XA ROLLBACK t1")
				s.ended(twophase.RolledBack, 0, 1)
				if !c.lost {
					want = append(want, "ROLLBACK")
				}
			}
			s.sent("s0", want...)
		})
	}
}

func begin(t testing.TB, s *stand) {
	t.Helper()
	if err := s.Begin(stmt.Opening{}); err != nil {
		t.Fatal(err)
	}
}

// After an error with an unknown number, or of a statement that may end the transaction, the server is asked.
func TestWhereAnErrorLeavesItInDoubt(t *testing.T) {
	for name, c := range map[string]struct {
		code uint16
		mode Mode
	}{"untold": {0, Writes}, "procedure": {1062, MayEnd}} {
		t.Run(name, func(t *testing.T) {
			s := newStand(t, XA)
			begin(t, s)
			s.must("s0", "UPDATE a", Writes)
			s.acquire("s0", c.mode).Refused(c.code)
			s.is(true, "s0")
			s.sent("s0", "BEGIN", "UPDATE a", "DO 0")
			l := s.acquire("s0", c.mode)
			s.shards["s0"].Next(fakeshard.Reply{Prefix: "DO 0", Ends: true})
			l.Refused(c.code)
			s.is(false)
			s.sent("s0", "DO 0", "ROLLBACK")
		})
	}
}

// If the server can't be asked, the transaction is lost.
func TestWhoCannotBeAskedIsLost(t *testing.T) {
	s := newStand(t, XA)
	begin(t, s)
	s.must("s0", "UPDATE a", Writes)
	s.shards["s0"].Next(fakeshard.Reply{Prefix: "DO 0", Cut: fakeshard.Before})
	s.acquire("s0", Writes).Refused(0)
	s.is(false)
	if !s.Lost() {
		t.Error("it isn't known to be lost")
	}
	// A connection outside of the transaction is closed if the server answers with an error.
	s = newStand(t, XA)
	s.shards["s0"].Next(fakeshard.Reply{Prefix: "DO 0", Code: 1317})
	s.acquire("s0", Writes).Refused(0)
	s.is(false)
	if s.Lost() {
		t.Error("nothing was lost")
	}
}

// If an answer is not read to its end, only its connection is lost.
func TestHalfRead(t *testing.T) {
	s := newStand(t, XA)
	l := s.acquire("s0", 0)
	packet, _ := wire.AppendCommand(nil, mysql.COM_QUERY, []byte("SELECT IS_USED_LOCK(1)"))
	if err := l.Conn.Send(packet, backend.Nothing); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.Conn.Stream().Payload(); err != nil {
		t.Fatal(err)
	}
	l.Lost()
	s.is(false)
	if s.Lost() {
		t.Error("no transaction was lost")
	}
	if other := s.acquire("s0", 0); other.Conn == l.Conn {
		t.Error("it is lent again")
	} else {
		other.Release()
	}
}

// With autocommit off a server begins a transaction by itself, and the session records that.
func TestAutocommitOff(t *testing.T) {
	s := newStand(t, XA)
	s.client.Values.Autocommit = false
	s.must("s0", "DO 1", 0)
	s.is(false) // no server began a transaction
	s.must("s0", "UPDATE a", Writes)
	s.is(true, "s0")
	if s.Begun() || !s.Active() {
		t.Error("it was not begun by the client, and is open")
	}
	s.must("s1", "UPDATE b", Writes)
	s.must("s2", "SELECT c", Outside)
	s.is(true, "s0", "s1")
	s.sent("s0", "DO 1", "UPDATE a")
	s.sent("s1", "XA START t1", "UPDATE b")
	s.sent("s2", "SELECT c", "COMMIT")
	s.RollBack()
	s.is(false)
	s.sent("s0", "ROLLBACK")
	// An error does not report whether the server has begun a transaction.
	s.shards["s0"].Next(fakeshard.Reply{Prefix: "UPDATE", Code: 1062})
	if s.run("s0", "UPDATE a", Writes) == nil {
		t.Error("it is not refused")
	}
	s.sent("s0", "UPDATE a", "DO 0")
	s.is(false)
}

// If the connection is lost on which a server has begun a transaction by itself, that transaction is lost too.
func TestLostAfterItHasBegun(t *testing.T) {
	s := newStand(t, XA)
	s.client.Values.Autocommit = false
	l := s.acquire("s0", Writes)
	if _, err := l.Conn.Exec(t.Context(), "UPDATE a"); err != nil {
		t.Fatal(err)
	}
	l.Done(l.Conn.Status())
	s.is(true, "s0")
	l.Lost()
	s.is(false)
	if !s.Lost() {
		t.Error("it is not lost")
	}
}

// If the transaction of a read outside can't be committed, its connection is closed.
func TestOutsideThatDoesNotEnd(t *testing.T) {
	s := newStand(t, XA)
	s.client.Values.Autocommit = false
	s.shards["s2"].Next(fakeshard.Reply{Prefix: "COMMIT", Cut: fakeshard.Before})
	s.must("s2", "SELECT c", Outside)
	s.is(false)
	s.must("s2", "SELECT c", Outside)
}

// A statement outside of the transaction uses the shard's branch, if there is one.
func TestOutsideWithinIsTheBranch(t *testing.T) {
	s := newStand(t, XA)
	begin(t, s)
	s.must("s0", "UPDATE a", Writes)
	l := s.acquire("s0", Outside)
	if !l.Joined() || l.Fresh() || !l.Outside() || !l.Branch() || l.Opening() != nil {
		t.Errorf("%+v", l)
	}
	l.Done(l.Conn.Status())
	s.is(true, "s0")
}

// A statement that ends the transaction on the server ends it for the session.
func TestAStatementEndsTheTransaction(t *testing.T) {
	s := newStand(t, XA)
	begin(t, s)
	s.must("s0", "UPDATE a", Writes)
	s.must("s0", "ALTER TABLE a", Writes)
	s.is(false)
	if s.Lost() {
		t.Error("nothing was lost")
	}
	// If it ended on one of several shards, it is unknown whether the other branches must be committed.
	begin(t, s)
	s.must("s0", "UPDATE a", Writes)
	s.must("s1", "UPDATE a", Writes)
	s.must("s1", "ALTER TABLE a", Writes)
	s.is(false)
	if !s.Lost() {
		t.Error("it is not lost")
	}
	s.sent("s0", "BEGIN", "UPDATE a", "ALTER TABLE a", "BEGIN", "UPDATE a", "ROLLBACK")
}

// A connection that was sent nothing is given back, and the transaction is unchanged.
func TestRelease(t *testing.T) {
	s := newStand(t, XA)
	begin(t, s)
	s.acquire("s0", Writes).Release()
	s.is(true)
	l := s.acquire("s0", Writes)
	for _, text := range l.Opening() {
		if _, err := l.Conn.Own().Exec(context.Background(), text); err != nil {
			t.Fatal(err)
		}
	}
	l.Opened()
	l.Release()
	s.is(true, "s0") // the server of s0 has a transaction open
	s.acquire("s0", Writes).Release()
	s.is(true, "s0")
	s.acquire("s1", Outside).Release()
	s.RollBack()
	// The transaction that began because autocommit is off is reverted with its last branch.
	s.client.Values.Autocommit = false
	s.SetNext("SET TRANSACTION READ ONLY")
	s.Imply()
	s.is(true)
	s.acquire("s0", 0).Release()
	s.is(false)
	if s.Next() != "SET TRANSACTION READ ONLY" {
		t.Errorf("next: %q", s.Next())
	}
}

// A connection that was given back with others while a statement has its lease is not given back twice.
func TestLeftMeanwhile(t *testing.T) {
	for name, end := range map[string]func(Lease){
		"done": func(l Lease) { l.Done(0) }, "refused": func(l Lease) { l.Refused(1062) }, "lost": Lease.Lost, "release": Lease.Release,
		"fail": func(l Lease) { l.Fail(errors.New("x")) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStand(t, XA)
			begin(t, s)
			l := s.acquire("s0", Writes)
			s.RollBack()
			if l.Branch() {
				t.Error("it is still one")
			}
			other := s.acquire("s0", Apart)
			begin(t, s)
			s.must("s0", "UPDATE a", Writes)
			end(l)
			s.is(true, "s0") // another transaction, on another connection
			if s.Lost() || other.Conn != l.Conn {
				t.Error("nothing was lost")
			}
			other.Release()
		})
	}
}

var errUnwanted = errors.New("interrupted")

// A cancelled command gets no connection, or sends nothing on it.
func TestCancelled(t *testing.T) {
	s := newStand(t, XA)
	s.client.Stopped = errUnwanted
	if _, err := s.Acquire("s0", 0); !errors.Is(err, errUnwanted) {
		t.Error(err)
	}
	s.client.Stopped, s.client.Refused = nil, errUnwanted
	if _, err := s.Acquire("s0", 0); !errors.Is(err, errUnwanted) {
		t.Error(err)
	}
	s.client.Refused = nil
	s.must("s0", "UPDATE a", Writes)
	s.sent("s0", "UPDATE a")
	if s.client.Borrowed == 0 {
		t.Error("nobody hears how long it took")
	}
}

// A connection with an open transaction that the session doesn't know of is not lent again.
func TestOpenIsNotLentOn(t *testing.T) {
	s := newStand(t, XA)
	l := s.acquire("s0", 0)
	if _, err := l.Conn.Run(t.Context(), "BEGIN", backend.Nothing); err != nil {
		t.Fatal(err)
	}
	l.Release()
	other := s.acquire("s0", 0)
	if other.Conn == l.Conn {
		t.Error("it is")
	}
	other.Release()
}

// A connection that a kill may still hit is not lent again.
func TestKilledIsNotLentOn(t *testing.T) {
	s := newStand(t, XA)
	l := s.acquire("s0", 0)
	s.client.Killed = true
	l.Release()
	s.client.Killed = false
	other := s.acquire("s0", 0)
	if other.Conn == l.Conn {
		t.Error("it is")
	}
	other.Release()
}

func TestNoSuchShard(t *testing.T) {
	s := newStand(t, XA)
	for _, m := range []Mode{0, Apart, Late} {
		_, err := s.Acquire("nowhere", m)
		says(t, err, mysql.ER_UNKNOWN_ERROR, "shard nowhere is not registered")
	}
}

// A connection from LendApart is neither the branch nor a reserved one.
func TestApart(t *testing.T) {
	s := newStand(t, XA)
	begin(t, s)
	s.must("s0", "UPDATE a", Writes)
	branch := s.acquire("s0", 0)
	l := s.acquire("s0", Apart)
	if l.Conn == branch.Conn || l.Joined() || !l.Outside() {
		t.Errorf("%+v", l)
	}
	l.Done(l.Conn.Status())
	s.is(true, "s0")
}

// If a branch can't carry the settings because its connection is lost, the transaction is lost too.
func TestCarryLost(t *testing.T) {
	s := newStand(t, XA)
	begin(t, s)
	s.must("s0", "UPDATE a", Writes)
	s.client.Values.Settings = s.client.Values.Settings.With("sort_buffer_size", "1")
	s.shards["s0"].Next(fakeshard.Reply{Prefix: "SET", Code: 1231})
	_, err := s.Acquire("s0", 0)
	says(t, err, 1231, "refused")
	s.is(true, "s0")
	s.shards["s0"].Next(fakeshard.Reply{Prefix: "SET", Cut: fakeshard.Before})
	if _, err := s.Acquire("s0", 0); !isLost(err) {
		t.Error(err)
	}
	s.is(false)
	if !s.Lost() {
		t.Error("it is not lost")
	}
}

// All branches get the new settings, or the transaction is lost.
func TestCarry(t *testing.T) {
	s := newStand(t, XA)
	begin(t, s)
	s.must("s0", "UPDATE a", Writes)
	s.must("s1", "UPDATE b", Writes)
	s.client.Values.Settings = s.client.Values.Settings.With("sort_buffer_size", "1")
	if err := s.Carry(); err != nil {
		t.Error(err)
	}
	for _, b := range s.branches {
		if b.Conn.Settings() != s.client.Values.Settings {
			t.Errorf("%s carries %v", b.Shard, b.Conn.Settings().Assignments())
		}
	}
	s.client.Values.Settings = s.client.Values.Settings.With("sort_buffer_size", "2")
	s.shards["s1"].Next(fakeshard.Reply{Prefix: "SET", Code: 1231})
	says(t, s.Carry(), 1231, "refused")
	if s.is(false); !s.Lost() {
		t.Error("it is not lost")
	}
}

// How a transaction handles a second shard, by the mode.
func TestSpanning(t *testing.T) {
	s := newStand(t, Single)
	begin(t, s)
	s.must("s0", "UPDATE a", Writes)
	if home, ok := s.Home(); !ok || home != "s0" {
		t.Errorf("home: %s", home)
	}
	_, err := s.Acquire("s1", Writes)
	says(t, err, 0, "this transaction is on shard s0 and the statement needs shard s1")
	s.must("s1", "SELECT a", Outside)
	s.is(true, "s0")

	s = newStand(t, XA)
	begin(t, s)
	s.must("s0", "UPDATE a", Writes)
	for shard, c := range map[router.ShardName]struct {
		err  error
		code uint16
		text string
	}{
		"s1": {&twophase.LackError{Shard: "s1", Remedy: "grant it", Err: errUnwanted}, 0, "it can't be committed on both at once"},
		"s2": {&mysql.MyError{Code: mysql.ER_LOCK_DEADLOCK}, mysql.ER_LOCK_WAIT_TIMEOUT, "the statement was not run"},
		"s0": {errUnwanted, wire.ErNetRead, "the statement was not run"},
	} {
		s.coordinator.Unready = map[router.ShardName]error{shard: c.err}
		to := shard
		if shard == "s0" {
			to = "s1"
		}
		_, err := s.Acquire(to, Writes)
		says(t, err, c.code, c.text)
		s.is(true, "s0")
	}
}

// A statement that can't be part of a transaction of several shards is refused before it is sent.
func TestNotWithinXA(t *testing.T) {
	s := newStand(t, XA)
	s.client.Server = flavor.MySQL
	begin(t, s)
	s.must("s0", "UPDATE a", Temporary)
	_, err := s.Acquire("s1", Temporary)
	says(t, err, 0, "temporary tables are on shard s1")
	s.must("s1", "UPDATE a", 0)
	_, err = s.Acquire("s1", Temporary)
	says(t, err, 0, "temporary tables are on shard s1")
	_, err = s.Acquire("s0", MayEnd)
	says(t, err, 0, "could end it on shard s0 alone")
	s.is(true, "s0", "s1")
}
