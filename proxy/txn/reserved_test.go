package txn

import (
	"slices"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/fakeshard"
	"locus/proxy/flavor"
	"locus/router"
	"locus/router/catalog"
)

// reserve reserves a connection.
func (s *stand) reserve(shard router.ShardName, reasons ...Reason) {
	s.t.Helper()
	l := s.acquire(shard, Outside)
	for _, r := range reasons {
		l.Reserve(r)
	}
	l.Done(l.Conn.Status())
}

func table(name string) catalog.TableName { return catalog.TableName{Schema: "shop", Name: name} }

// Statements use a reserved connection, within the transaction and outside of it, until its last reason ends.
func TestReserved(t *testing.T) {
	s := newStand(t, XA)
	s.reserve("s0", NamedLock, Handler, Handler)
	l := s.acquire("s0", Late)
	if thread := s.ReservedThread("s0"); thread != l.Conn.ThreadID() || s.ReservedThread("s1") != 0 {
		t.Errorf("%d", thread)
	}
	l.Done(l.Conn.Status())
	if words := s.ReservedWords(); words != "pinned: named lock, handler" || !s.ReservesAny() || !s.KeepsAny() {
		t.Errorf("%q", words)
	}
	begin(t, s)
	s.must("s0", "UPDATE a", Writes)
	again := s.acquire("s0", 0)
	if again.Conn != l.Conn || !again.Joined() {
		t.Error("the transaction has another one")
	}
	again.Unreserve(NamedLock)
	again.Unreserve(NamedLock)
	again.Unreserve(Handler)
	if s.ReservesAny() || s.ReservedWords() != "" {
		t.Errorf("%q", s.ReservedWords())
	}
	again.Done(again.Conn.Status())
	s.is(true, "s0") // the transaction still has it
	if err := s.Commit(); err != nil {
		t.Error(err)
	}
	if _, total := s.Counts.Reserved(Handler); total != 1 {
		t.Errorf("counted %d times", total)
	}
	if s.client.Reserved == 0 {
		t.Error("nobody hears of it")
	}
}

// When a reason ends on every shard, connections that nothing else uses are given back.
func TestUnreserveGivesBack(t *testing.T) {
	s := newStand(t, XA)
	s.reserve("s0", Routine)
	s.reserve("s1", Routine)
	s.reserve("s2", Routine, Procedure)
	busy := s.acquire("s0", 0)
	busy.Unreserve(Routine)
	if s.ReservedThread("s1") != 0 || s.ReservedThread("s2") == 0 {
		t.Error(s.ReservedWords())
	}
	if len(s.client.Awaited) != 2 {
		t.Errorf("%d connections are the session's", len(s.client.Awaited))
	}
	busy.Release()
}

// A connection that the transaction has is not given back with its reason.
func TestUnreserveAmidATransaction(t *testing.T) {
	s := newStand(t, XA)
	s.reserve("s0", Routine)
	begin(t, s)
	s.must("s0", "UPDATE a", Writes)
	other := s.acquire("s1", Outside)
	other.Unreserve(Routine)
	other.Done(other.Conn.Status())
	s.is(true, "s0")
	s.must("s0", "UPDATE b", Writes)
	if err := s.Commit(); err != nil {
		t.Error(err)
	}
}

// A session that lost a reserved connection ends, as on the servers.
func TestReservedIsLost(t *testing.T) {
	s := newStand(t, XA)
	s.reserve("s0", NamedLock, TemporaryTable)
	s.shards["s0"].Next(fakeshard.Reply{Prefix: "UPDATE", Cut: fakeshard.Before})
	if err := s.run("s0", "UPDATE a", Writes); !isLost(err) {
		t.Error(err)
	}
	if s.LostState() != "pinned: named lock, temporary table" || s.ReservesAny() {
		t.Errorf("%q", s.LostState())
	}
	s.Reset()
	if s.LostState() != "" {
		t.Error("a new session has lost nothing")
	}
	// It also ends if the connection is lost while settings are sent.
	s.reserve("s0", NamedLock)
	s.client.Values.Settings = s.client.Values.Settings.With("sort_buffer_size", "1")
	s.shards["s0"].Next(fakeshard.Reply{Prefix: "SET", Cut: fakeshard.Before})
	if _, err := s.Acquire("s0", 0); !isLost(err) || s.LostState() == "" {
		t.Error(err)
	}
}

// Reset releases the state of connections. A client's own XA transaction ends only with its connection.
func TestReset(t *testing.T) {
	for reason, again := range map[Reason]bool{NamedLock: true, GlobalTransaction: false} {
		s := newStand(t, XA)
		begin(t, s)
		s.must("s2", "UPDATE a", Writes)
		s.reserve("s0", reason)
		thread := s.ReservedThread("s0")
		s.Reset()
		s.is(false)
		if s.ReservesAny() {
			t.Errorf("%s: something is kept", reason)
		}
		l := s.acquire("s0", 0)
		if (l.Conn.ThreadID() == thread) != again {
			t.Errorf("%s: lent on: %t", reason, !again)
		}
		l.Release()
	}
}

// Only the server knows which named locks a statement got.
func TestNamedLocks(t *testing.T) {
	s := newStand(t, XA)
	use := func(n NamedLocks, held bool) {
		t.Helper()
		s.shards["s0"].Hold(held)
		l := s.acquire("s0", 0)
		l.KeepLocks(n)
		l.Done(l.Conn.Status())
	}
	use(NamedLocks{Names: []string{"a"}}, false)
	if s.Reserved(NamedLock) {
		t.Error("it was not got")
	}
	use(NamedLocks{Names: []string{"a", "b"}}, true)
	s.shards["s0"].Sent()
	use(NamedLocks{Names: []string{"a", "c"}}, true)
	s.sent("s0", "SELECT IS_USED_LOCK('a') <=> CONNECTION_ID(), IS_USED_LOCK('b') <=> CONNECTION_ID(), IS_USED_LOCK('c') <=> CONNECTION_ID()")
	if !s.Reserved(NamedLock) || len(s.reserved.locks) != 3 {
		t.Errorf("%v", s.reserved)
	}
	// If the server doesn't answer, all of the names may be locked.
	s.shards["s0"].Next(fakeshard.Reply{Prefix: "SELECT IS_USED", Code: 1146})
	use(NamedLocks{}, true)
	use(NamedLocks{Unnamed: true}, false)
	use(NamedLocks{Names: []string{"d"}}, false)
	if !s.Reserved(NamedLock) || len(s.reserved.locks) != 0 {
		t.Error("one whose name isn't known is let go")
	}
	use(NamedLocks{ReleasesAll: true}, false)
	if s.ReservesAny() {
		t.Error("all are let go")
	}
}

func TestTemporaryTables(t *testing.T) {
	s := newStand(t, XA)
	if s.TemporaryTables() != nil || s.CheckLimit(TemporaryTable) != nil || s.CheckLimit(NamedLock) != nil {
		t.Error("there are none")
	}
	l := s.acquire("s0", 0)
	l.LostTemporary([]catalog.TableName{table("a")}, nil)
	l.MadeTemporary([]catalog.TableName{table("a"), table("b")})
	l.MadeTemporary([]catalog.TableName{table("a")})
	if !slices.Equal(s.TemporaryTables(), []catalog.TableName{table("a"), table("b")}) {
		t.Errorf("%v", s.TemporaryTables())
	}
	l.LostTemporary([]catalog.TableName{table("a"), table("c")}, nil)
	l.LostTemporary(nil, []catalog.TableName{table("b")})
	if !slices.Equal(s.TemporaryTables(), []catalog.TableName{unknownTable}) {
		t.Errorf("%v", s.TemporaryTables())
	}
	l.MadeTemporary(nil)
	s.reserved.temporary = make([]catalog.TableName, mostNames)
	s.reserved.locks = make([]string, mostNames)
	says(t, s.CheckLimit(TemporaryTable), 0, "4096 temporary tables")
	says(t, s.CheckLimit(NamedLock), 0, "4096 named locks")
	if s.CheckLimit(Handler) != nil {
		t.Error("those are not counted")
	}
	s.reserved.temporary = []catalog.TableName{table("a")}
	l.LostTemporary([]catalog.TableName{table("a")}, nil)
	if s.ReservesAny() {
		t.Error("there are none any more")
	}
	l.Done(l.Conn.Status())
}

func TestHandlers(t *testing.T) {
	s := newStand(t, XA)
	l := s.acquire("s0", 0)
	l.ClosedHandler()
	l.OpenedHandler()
	l.OpenedHandler()
	l.ClosedHandler()
	if !s.Reserved(Handler) {
		t.Error("one is open")
	}
	l.ClosedHandler()
	if s.ReservesAny() {
		t.Error("none is")
	}
	l.Done(l.Conn.Status())
}

var twoLocks = []TableLocks{{"s0", "LOCK TABLES a WRITE"}, {"s1", "LOCK TABLES a WRITE"}}

// Under LOCK TABLES no BEGIN is sent, because it would end the locks, and UNLOCK TABLES commits.
func TestLockTables(t *testing.T) {
	s := newStand(t, XA)
	if s.LockedNames() != nil || s.UnlockTables() != nil {
		t.Error("there are none")
	}
	begin(t, s)
	s.must("s0", "UPDATE a", Writes)
	if err := s.LockTables([]catalog.TableName{table("a")}, twoLocks); err != nil {
		t.Fatal(err)
	}
	s.is(false)
	if !slices.Equal(s.LockedNames(), []catalog.TableName{table("a")}) {
		t.Errorf("%v", s.LockedNames())
	}
	s.must("s0", "UPDATE a", Writes)
	s.sent("s0", "BEGIN", "UPDATE a", "COMMIT", "LOCK TABLES a WRITE", "UPDATE a")
	s.shards["s1"].Sent()
	// A statement's own transaction begins by switching autocommit off.
	if err := s.Atomically(s.onBoth); err != nil {
		t.Error(err)
	}
	s.sent("s0", "UPDATE a", "COMMIT")
	s.sent("s1", "UPDATE a", "COMMIT")
	s.shards["s1"].Next(fakeshard.Reply{Prefix: "UPDATE", Code: 1062})
	says(t, s.Atomically(s.onBoth), 1062, "refused")
	s.is(false)
	s.sent("s0", "UPDATE a", "ROLLBACK")
	s.shards["s1"].Sent()
	begin(t, s) // it releases the locks
	if s.ReservesAny() {
		t.Errorf("%s", s.ReservedWords())
	}
	s.sent("s0", "UNLOCK TABLES")
	s.sent("s1", "UNLOCK TABLES")
}

func TestLockTablesWithAutocommitOff(t *testing.T) {
	s := newStand(t, XA)
	s.client.Values.Autocommit = false
	if err := s.LockTables(nil, twoLocks); err != nil {
		t.Fatal(err)
	}
	s.must("s0", "UPDATE a", Writes)
	s.must("s1", "DO 1", 0)
	s.is(true, "s0") // the other server began no transaction
	s.must("s1", "UPDATE a", Writes)
	s.is(true, "s0", "s1")
	if err := s.UnlockTables(); err != nil {
		t.Error(err)
	}
	s.is(false)
	s.sent("s0", "LOCK TABLES a WRITE", "UPDATE a", "COMMIT", "UNLOCK TABLES")
	s.sent("s1", "LOCK TABLES a WRITE", "DO 1", "UPDATE a", "COMMIT", "UNLOCK TABLES")
}

func TestLockTablesThatFails(t *testing.T) {
	for name, f := range map[string]fakeshard.Reply{"refused": {Prefix: "LOCK", Code: 1146}, "lost": {Prefix: "LOCK", Cut: fakeshard.Before}} {
		s := newStand(t, XA)
		s.shards["s1"].Next(f)
		if err := s.LockTables(nil, twoLocks); err == nil {
			t.Errorf("%s: locked", name)
		}
		if s.ReservesAny() {
			t.Errorf("%s: %s", name, s.ReservedWords())
		}
		s.sent("s0", "LOCK TABLES a WRITE", "UNLOCK TABLES")
	}
	s := newStand(t, XA)
	if err := s.LockTables(nil, twoLocks); err != nil {
		t.Fatal(err)
	}
	s.shards["s0"].Next(fakeshard.Reply{Prefix: "UNLOCK", Cut: fakeshard.Before})
	if err := s.UnlockTables(); !isLost(err) || s.LostState() == "" {
		t.Error(err)
	}
	s.client.Stopped = errUnwanted
	if s.LockTables(nil, twoLocks) == nil {
		t.Error("what was cancelled goes on")
	}
	s.client.Stopped = nil
}

// A client's own XA transaction keeps its connection from phase to phase.
func TestClientsOwnXA(t *testing.T) {
	for name, c := range map[string]struct {
		flavor flavor.Flavor
		verbs  []string
		ends   bool
	}{
		"one phase":          {flavor.MariaDB, []string{"start", "end", "commit"}, true},
		"rolled back":        {flavor.MariaDB, []string{"start", "end", "rollback"}, true},
		"under way":          {flavor.MariaDB, []string{"start", "end"}, false},
		"prepared, bound":    {flavor.MariaDB, []string{"start", "end", "prepare"}, false},
		"prepared, let go":   {flavor.MySQL, []string{"start", "end", "prepare"}, true},
		"another's finished": {flavor.MySQL, []string{"commit"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStand(t, XA)
			s.client.Server = c.flavor
			for _, verb := range c.verbs {
				l := s.acquire("s0", 0)
				l.XA(verb, mysql.SERVER_STATUS_AUTOCOMMIT)
				l.Done(mysql.SERVER_STATUS_AUTOCOMMIT)
			}
			if s.Reserved(GlobalTransaction) == c.ends {
				t.Errorf("%s", s.ReservedWords())
			}
			err := s.Commit()
			if c.ends {
				if err != nil {
					t.Error(err)
				}
				return
			}
			says(t, err, erXABarred, "XAER_RMFAIL")
		})
	}
}

// Variables that stored code may have set are set again where it ran.
func TestStoredCode(t *testing.T) {
	s := newStand(t, XA)
	if s.Invalidate([]string{"sql_mode"}, nil) != nil {
		t.Error("none ran")
	}
	s.reserve("s0", Routine)
	if s.SwitchedOff() {
		t.Error("autocommit is on")
	}
	l := s.acquire("s0", 0)
	l.Conn.SetStatus(0)
	if !s.SwitchedOff() {
		t.Error("autocommit is off there")
	}
	l.Conn.SetStatus(mysql.SERVER_STATUS_AUTOCOMMIT)
	l.Done(l.Conn.Status())
	s.client.Values.Settings = s.client.Values.Settings.With("sort_buffer_size", "1")
	s.must("s0", "DO 1", 0)
	s.shards["s0"].Sent()
	s.Invalidate([]string{"sort_buffer_size"}, nil)()
	s.Invalidate([]string{"sort_buffer_size"}, l.Conn)
	s.must("s0", "DO 1", 0)
	s.Invalidate([]string{"sort_buffer_size"}, nil)
	s.must("s0", "DO 1", 0)
	if sent := s.shards["s0"].Sent(); len(sent) != 3 {
		t.Errorf("%q", sent)
	}
}
