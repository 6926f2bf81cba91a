package txn

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"locus/internal/test/fakeshard"
	"locus/proxy/twophase"
	"locus/router"
	"locus/router/stmt"
)

func mark(verb, name string) stmt.Mark { return stmt.Mark{Verb: verb, Name: name} }

func (s *stand) mark(verb, name string) {
	s.t.Helper()
	if err := s.Savepoint(mark(verb, name)); err != nil {
		s.t.Fatalf("%s %s: %v", verb, name, err)
	}
}

// Shards that join later get the savepoints that were set before.
func TestSavepointsAreSetOnWhoJoins(t *testing.T) {
	s := newStand(t, XA)
	begin(t, s)
	s.mark("savepoint", "a")
	s.mark("savepoint", "b")
	s.must("s0", "UPDATE a", Writes)
	s.mark("savepoint", "c")
	s.mark("savepoint", "A") // it replaces a
	s.mark("rollback", "c")
	s.must("s1", "UPDATE a", Writes)
	s.mark("release", "b")
	s.must("s2", "UPDATE a", Writes)
	s.sent("s0", "BEGIN", "SAVEPOINT `a`", "SAVEPOINT `b`", "UPDATE a", "SAVEPOINT `c`", "SAVEPOINT `A`", "ROLLBACK TO SAVEPOINT `c`", "RELEASE SAVEPOINT `b`")
	s.sent("s1", "XA START t1", "SAVEPOINT `b`", "SAVEPOINT `c`", "UPDATE a", "RELEASE SAVEPOINT `b`")
	s.sent("s2", "XA START t1", "UPDATE a")
}

func TestSavepointsThatAreNotThere(t *testing.T) {
	s := newStand(t, XA)
	s.mark("savepoint", "a") // the savepoint ended with its own statement
	for _, verb := range []string{"rollback", "release"} {
		says(t, s.Savepoint(mark(verb, "a")), erSavepoint, "SAVEPOINT a does not exist")
	}
	begin(t, s)
	says(t, s.Savepoint(mark("rollback", "a")), erSavepoint, "does not exist")
	s.client.Values.Autocommit = false
	s.RollBack()
	s.mark("savepoint", "a")
	if !s.Running() || s.Active() {
		t.Error("it begins a transaction, which no server has open")
	}
	s.must("s0", "UPDATE a", Writes)
	s.sent("s0", "BEGIN", "SAVEPOINT `a`", "UPDATE a")
}

// The savepoints that a session keeps are limited.
func TestSavepointsAreBounded(t *testing.T) {
	s := newStand(t, XA)
	begin(t, s)
	says(t, s.Savepoint(mark("savepoint", strings.Repeat("x", longestMark+1))), 0, "give it a shorter one")
	for i := range mostNames {
		s.mark("savepoint", fmt.Sprint(i))
	}
	says(t, s.Savepoint(mark("savepoint", "one more")), 0, "4096 savepoints")
}

func TestSavepointRefusedAndLost(t *testing.T) {
	s := newStand(t, XA)
	begin(t, s)
	s.must("s0", "UPDATE a", Writes)
	s.shards["s0"].Next(fakeshard.Reply{Prefix: "SAVEPOINT", Code: 1402})
	says(t, s.Savepoint(mark("savepoint", "a")), 1402, "refused")
	s.is(true, "s0")
	s.shards["s0"].Next(fakeshard.Reply{Prefix: "SAVEPOINT", Cut: fakeshard.Before})
	if err := s.Savepoint(mark("savepoint", "a")); !isLost(err) {
		t.Error(err)
	}
	s.is(false)
	if !s.Lost() {
		t.Error("it is not lost")
	}
}

var errFailed = errors.New("a part failed")

// onBoth runs a part on two shards.
func (s *stand) onBoth() error {
	if err := s.run("s0", "UPDATE a", Writes); err != nil {
		return err
	}
	return s.run("s1", "UPDATE a", Writes)
}

// A statement's own transaction spans shards in every mode, and leaves nothing.
func TestAtomicallyByItself(t *testing.T) {
	for _, spanning := range []Spanning{XA, Multi, Single} {
		t.Run(fmt.Sprint(spanning), func(t *testing.T) {
			s := newStand(t, spanning)
			if err := s.Atomically(s.onBoth); err != nil {
				t.Error(err)
			}
			s.is(false)
			if spanning == XA {
				s.sent("s0", "BEGIN", "UPDATE a", "DO 0", "INSERT decision [s1]", "COMMIT")
				s.sent("s1", "XA START t1", "UPDATE a", "XA END t1", "XA PREPARE t1", "XA COMMIT t1")
			} else {
				s.sent("s0", "BEGIN", "UPDATE a", "COMMIT")
				s.sent("s1", "BEGIN", "UPDATE a", "COMMIT")
			}
			s.shards["s1"].Next(fakeshard.Reply{Prefix: "UPDATE", Cut: fakeshard.Before})
			if err := s.Atomically(s.onBoth); !isLost(err) {
				t.Error(err)
			}
			s.is(false)
			if s.Lost() {
				t.Error("the client has lost nothing: it was the statement's own")
			}
			s.sent("s0", "BEGIN", "UPDATE a", "ROLLBACK")
			begin(t, s)
			s.must("s0", "UPDATE a", Writes)
			if _, err := s.Acquire("s1", Writes); (err != nil) != (spanning == Single) {
				t.Error(err)
			}
		})
	}
}

// Within the client's transaction, the parts of a statement are undone together.
func TestAtomicallyWithin(t *testing.T) {
	s := newStand(t, XA)
	begin(t, s)
	s.must("s0", "UPDATE a", Writes)
	if err := s.Atomically(func() error { return errors.Join(s.onBoth(), errFailed) }); !errors.Is(err, errFailed) {
		t.Error(err)
	}
	s.is(true, "s0", "s1")
	s.sent("s0", "BEGIN", "UPDATE a", "SAVEPOINT `locus_statement`", "UPDATE a", "ROLLBACK TO SAVEPOINT `locus_statement`")
	s.sent("s1", "XA START t1", "SAVEPOINT `locus_statement`", "UPDATE a", "ROLLBACK TO SAVEPOINT `locus_statement`")
	// If that fails, the whole transaction is rolled back.
	s.shards["s1"].Next(fakeshard.Reply{Prefix: "UPDATE", Code: 1062}, fakeshard.Reply{Prefix: "ROLLBACK TO", Code: 1305})
	says(t, s.Atomically(s.onBoth), 1062, "the transaction was rolled back")
	s.is(false)
	begin(t, s)
	s.must("s0", "UPDATE a", Writes)
	s.shards["s0"].Next(fakeshard.Reply{Prefix: "SAVEPOINT", Code: 1402})
	says(t, s.Atomically(s.onBoth), 1402, "refused")
	s.is(true, "s0")
	// If the error ended the transaction, it is not undone again.
	s.shards["s1"].Next(fakeshard.Reply{Prefix: "UPDATE", Cut: fakeshard.Before})
	if err := s.Atomically(s.onBoth); !isLost(err) {
		t.Error(err)
	}
	s.is(false)
}

// With autocommit off, the transaction is the client's. A statement that was refused before a single server would have begun a transaction has
// begun none.
func TestAtomicallyWithAutocommitOff(t *testing.T) {
	s := newStand(t, XA)
	s.client.Values.Autocommit = false
	if err := s.Atomically(s.onBoth); err != nil {
		t.Error(err)
	}
	s.is(true, "s0", "s1")
	s.RollBack()
	s.shards["s0"].Sent()
	s.SetNext("SET TRANSACTION READ ONLY")
	s.shards["s1"].Next(fakeshard.Reply{Prefix: "UPDATE", Code: 1054})
	says(t, s.Atomically(s.onBoth), 1054, "refused")
	s.is(true, "s0", "s1")
	s.Unbegin()
	s.is(false)
	s.sent("s0", "SET TRANSACTION READ ONLY", "BEGIN", "SAVEPOINT `locus_statement`", "UPDATE a", "ROLLBACK TO SAVEPOINT `locus_statement`", "ROLLBACK")
	if s.Next() != "SET TRANSACTION READ ONLY" {
		t.Errorf("next: %q", s.Next())
	}
	s.Unbegin()
	s.is(false)
}

// Reads of one moment run in a transaction of their own. Nothing of it remains, whatever its outcome.
func TestReading(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(Lease)
		fail bool
	}{
		"done": {func(l Lease) { l.Done(2) }, false}, "refused": {func(l Lease) { l.Refused(1054) }, true},
		"lost": {Lease.Lost, true}, "released": {Lease.Release, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStand(t, Single)
			s.SetNext("SET TRANSACTION READ WRITE")
			err := s.Reading(func() error {
				for _, shard := range []router.ShardName{"s0", "s1"} {
					l := s.acquire(shard, 0)
					if name != "released" {
						for _, text := range append(l.Opening(), "SELECT a") {
							if _, err := l.Conn.Own().Exec(t.Context(), text); err != nil {
								t.Fatal(err)
							}
						}
					}
					c.end(l)
				}
				s.is(true, "s0", "s1")
				if c.fail {
					return errFailed
				}
				return nil
			})
			if (err != nil) != c.fail {
				t.Error(err)
			}
			s.is(false)
			if s.Lost() || s.Next() != "SET TRANSACTION READ WRITE" {
				t.Errorf("lost: %t, next: %q", s.Lost(), s.Next())
			}
			if got := sent(s.shards["s0"]); name == "done" && strings.Join(got, "; ") != "SET TRANSACTION READ WRITE; START TRANSACTION READ ONLY; SELECT a; ROLLBACK" {
				t.Errorf("%q", got)
			}
			s.ended(twophase.RolledBack, 0, 0) // the transaction is not the client's
		})
	}
}
