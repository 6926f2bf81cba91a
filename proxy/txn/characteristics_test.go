package txn

import (
	"testing"

	"locus/internal/test/fakeshard"
	"locus/proxy/flavor"
	"locus/router"
	"locus/router/stmt"
)

func TestSetTransaction(t *testing.T) {
	text := with("", stmt.Characteristic{What: "isolation", Clause: "ISOLATION LEVEL SERIALIZABLE"})
	text = with(text, stmt.Characteristic{What: "read_only", Clause: "READ ONLY"})
	if text != "SET TRANSACTION READ ONLY, ISOLATION LEVEL SERIALIZABLE" {
		t.Error(text)
	}
	if text = with(text, stmt.Characteristic{What: "read_only", Clause: "READ WRITE"}); text != "SET TRANSACTION READ WRITE, ISOLATION LEVEL SERIALIZABLE" {
		t.Error(text)
	}
	if text = without(text, "isolation"); text != "SET TRANSACTION READ WRITE" {
		t.Error(text)
	}
	if text = without(text, "read_only"); text != "" {
		t.Error(text)
	}
}

// SET TRANSACTION applies to the next transaction, on every shard of it, or to a statement that is a transaction of its own.
func TestNext(t *testing.T) {
	const next = "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"
	s := newStand(t, XA)
	s.SetNext(next)
	s.must("s0", "SELECT a", 0)
	s.must("s1", "SELECT a", Outside)
	s.sent("s0", next, "SELECT a")
	s.sent("s1", "SELECT a")
	begin(t, s)
	if s.Next() != "" {
		t.Error("it is told to the next one as well")
	}
	s.must("s0", "UPDATE a", Writes)
	s.must("s1", "UPDATE a", Writes)
	s.sent("s0", next, "BEGIN", "UPDATE a")
	s.sent("s1", next, "XA START t1", "UPDATE a")
}

// A reserved connection forgets a SET TRANSACTION that its statement did not use.
func TestDropCharacteristics(t *testing.T) {
	const next = "SET TRANSACTION READ ONLY"
	s := newStand(t, XA)
	s.DropCharacteristics()
	s.reserve("s0", NamedLock)
	s.SetNext(next)
	s.must("s0", "DO 1", 0)
	s.DropCharacteristics()
	s.DropCharacteristics()
	s.sent("s0", next, "DO 1", "ROLLBACK")
	s.must("s0", "DO 1", 0)
	s.shards["s0"].Next(fakeshard.Reply{Prefix: "ROLLBACK", Cut: fakeshard.Before})
	s.DropCharacteristics()
	if s.LostState() == "" {
		t.Error("it is still reserved")
	}
	s.SetNext("")
}

// A characteristic that a session sets for later transactions does not change the current one, and replaces the characteristic that was set for
// the next one.
func TestCharacterize(t *testing.T) {
	const next = "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"
	said := func(what, clause string) stmt.Characteristic { return stmt.Characteristic{What: what, Clause: clause} }
	s := newStand(t, XA)
	if text := s.Characterize("", stmt.Characteristic{What: "isolation", Next: true, Clause: "ISOLATION LEVEL SERIALIZABLE"}); text != next {
		t.Error(text)
	}
	if text := s.Characterize(next, said("isolation", "")); text != "" {
		t.Error(text)
	}
	begin(t, s)
	s.must("s0", "UPDATE a", Writes)
	for _, c := range []stmt.Characteristic{
		said("isolation", "ISOLATION LEVEL READ COMMITTED"), said("isolation", "ISOLATION LEVEL SERIALIZABLE"), // which is already set
		said("read_only", "READ WRITE"),
	} {
		if text := s.Characterize(next, c); text != next {
			t.Error(text)
		}
	}
	s.must("s1", "UPDATE a", Writes)
	s.sent("s1", "SET TRANSACTION READ WRITE, ISOLATION LEVEL READ COMMITTED", "XA START t1", "UPDATE a")
	s.RollBack()
	if err := s.Begin(stmt.Opening{Access: stmt.ReadOnly}); err != nil {
		t.Fatal(err)
	}
	s.Characterize("", said("read_only", "READ WRITE"))
	s.must("s2", "SELECT a", 0)
	s.sent("s2", "START TRANSACTION READ ONLY", "SELECT a")
}

// AND CHAIN begins another transaction like the current one. MySQL's BEGIN does so too.
func TestChained(t *testing.T) {
	const next = "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"
	s := newStand(t, XA)
	s.client.Server = flavor.MySQL
	s.SetNext(next)
	if err := s.Begin(stmt.Opening{Access: stmt.ReadOnly}); err != nil {
		t.Fatal(err)
	}
	again := s.Chained()
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := again(); err != nil {
		t.Fatal(err)
	}
	s.must("s0", "SELECT a", 0)
	begin(t, s)
	if s.How().Access != stmt.ReadOnly {
		t.Errorf("%+v", s.How())
	}
	s.must("s0", "SELECT a", 0)
	s.sent("s0", next, "START TRANSACTION READ ONLY", "SELECT a", "COMMIT", next, "START TRANSACTION READ ONLY", "SELECT a")
}

// A snapshot is taken at the moment of BEGIN.
func TestJoin(t *testing.T) {
	s := newStand(t, XA)
	begin(t, s)
	if err := s.Join("s0", 0, ""); err != nil {
		t.Error(err)
	}
	s.must("s0", "SELECT a", 0)
	s.sent("s0", "BEGIN", "SELECT a")
	for name, f := range map[string]fakeshard.Reply{"refused": {Prefix: "BEGIN", Code: 1}, "lost": {Prefix: "BEGIN", Cut: fakeshard.Before}} {
		s := newStand(t, XA)
		begin(t, s)
		s.shards["s0"].Next(f)
		if s.Join("s0", 0, "") == nil {
			t.Errorf("%s: it has joined", name)
		}
		s.is(false)
		if s.Lost() != (name == "lost") {
			t.Errorf("%s: lost: %t", name, s.Lost())
		}
	}
}

// The access mode comes from SET TRANSACTION for the next transaction, from BEGIN, or from the session. The session's mode may
// change during the transaction.
func TestAccess(t *testing.T) {
	s := newStand(t, XA)
	is := func(what string, want stmt.Access) {
		t.Helper()
		if got := s.Access(); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	is("nothing is said", stmt.AnyAccess)
	s.SetNext("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
	is("of something else", stmt.AnyAccess)
	s.SetNext("SET TRANSACTION READ ONLY, ISOLATION LEVEL READ COMMITTED")
	is("the next one", stmt.ReadOnly)
	begin(t, s)
	is("it has begun", stmt.ReadOnly)
	s.SetNext("SET TRANSACTION READ WRITE")
	is("of the one after it", stmt.ReadOnly)
	s.RollBack()
	is("another one", stmt.AnyAccess)
	if err := s.Begin(stmt.Opening{Access: stmt.ReadWrite}); err != nil {
		t.Fatal(err)
	}
	is("said at its beginning", stmt.ReadWrite)
	s.RollBack()
	begin(t, s)
	s.Characterize("", stmt.Characteristic{What: "read_only", Clause: "READ ONLY"}) // the mode that the session's transactions had so far
	is("the session's are others now", stmt.ReadOnly)
	s.RollBack()
	is("the next one is as the session's", stmt.AnyAccess)
}

// Under LOCK TABLES one server has begun a transaction, and another one did not get a BEGIN.
func TestBegunUnderLocks(t *testing.T) {
	s := newStand(t, XA)
	s.client.Values.Autocommit = false
	for _, shard := range []router.ShardName{"s0", "s1"} {
		s.reserve(shard, LockedTables)
	}
	if s.BegunUnderLocks() {
		t.Error("nothing has begun")
	}
	s.must("s0", "UPDATE a", Writes)
	if !s.BegunUnderLocks() {
		t.Error("s0 has begun")
	}
	s.RollBack()
}
