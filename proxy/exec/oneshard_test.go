package exec

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/fakeshard"
	"locus/proxy/backend"
	"locus/proxy/reply"
	"locus/proxy/stream"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
)

// told returns the bytes that f sends to the client.
func (s *stand) told(f func() error) (string, error) {
	s.t.Helper()
	near, far := net.Pipe()
	got := make(chan string)
	go func() {
		all, _ := io.ReadAll(far)
		got <- string(all)
	}()
	s.Client.Stream, s.Client.Seq = stream.New(near), 1
	err := f()
	_ = near.Close()
	return <-got, err
}

// one runs a statement on a shard.
func (s *stand) one(text string, shard router.ShardName) (string, error) {
	s.t.Helper()
	return s.told(func() error { return s.execution(text).oneShard(Part{Shard: shard}, nil) })
}

// TestOneShard: the shard gets the client's own packet, and the client gets the shard's answer.
func TestOneShard(t *testing.T) {
	s := newStand(t)
	s.shards["s0"].Next(rows("7"))
	got, err := s.one("SELECT a FROM report", "s0")
	if err != nil || !strings.Contains(got, "\x017") || s.Observer.Failed {
		t.Errorf("%q, %v, failed is %t", got, err, s.Observer.Failed)
	}
	if s.Vars.FoundRows != 1 || s.Vars.RowCount != -1 {
		t.Errorf("%d rows found, %d changed", s.Vars.FoundRows, s.Vars.RowCount)
	}
	s.log.Sent(map[router.ShardName]string{"s0": "SELECT a FROM report"})
	s.shards["s0"].Next(fakeshard.Reply{Prefix: "UPDATE", Affected: 3, Warnings: 1})
	if _, err = s.one("UPDATE report SET id = 1", "s0"); err != nil || s.Vars.RowCount != 3 || len(s.log.WarnedBy()) != 1 {
		t.Errorf("%v, %d rows changed, warned by %v", err, s.Vars.RowCount, s.log.WarnedBy())
	}
	s.shards["s0"].Next(fakeshard.Reply{Prefix: "UPDATE", Code: 1062})
	if got, err = s.one("UPDATE report SET id = 1", "s0"); err != nil || got[4] != mysql.ERR_HEADER || !s.Observer.Failed || s.Vars.RowCount != -1 {
		t.Errorf("%q, %v, failed is %t, %d rows changed", got, err, s.Observer.Failed, s.Vars.RowCount)
	}
	if _, err = s.one("SELECT 1", "nowhere"); err == nil {
		t.Error("a shard that is not there has answered")
	}
}

// TestOneShardIsLost: outside of a transaction, a read that is lost before any part of its answer arrived is repeated. A write is
// not, and neither is a read of whose answer the client has a part.
func TestOneShardIsLost(t *testing.T) {
	before, within := fakeshard.Reply{Cut: fakeshard.Before}, fakeshard.Reply{Cut: fakeshard.Amid, Columns: numbers, Rows: [][]string{{"1"}}}
	for _, c := range []struct {
		name, text string
		reply      fakeshard.Reply
		begun      bool
		retried    uint64
		partly     bool
	}{
		{"a read", "SELECT a FROM report", before, false, 1, false},
		{"a read in a transaction", "SELECT a FROM report", before, true, 0, false},
		{"a write", "UPDATE report SET id = 1", before, false, 0, false},
		{"a function", "SELECT f(a) FROM report", before, false, 0, false},
		{"within its answer", "SELECT a FROM report", within, false, 0, true},
	} {
		s := newStand(t)
		if c.begun {
			s.begin()
		}
		c.reply.Prefix, _, _ = strings.Cut(c.text, " ")
		s.shards["s0"].Next(c.reply)
		_, err := s.one(c.text, "s0")
		_, partly := errors.AsType[*reply.PartialError](err)
		if (err == nil) != (c.retried > 0) || s.Tally.Retried.Load() != c.retried || partly != c.partly || s.Conns.Lost() != c.begun {
			t.Errorf("%s: %v, %d times again, lost is %t", c.name, err, s.Tally.Retried.Load(), s.Conns.Lost())
		}
	}
}

// TestSentBefore: statements that must precede a statement are sent ahead of it, and their answers are not relayed.
func TestSentBefore(t *testing.T) {
	s := newStand(t)
	s.Conns.SetNext("SET TRANSACTION READ ONLY")
	s.Vars.InsertID = 7
	if _, err := s.one("SELECT LAST_INSERT_ID(), id FROM report", "s0"); err != nil {
		t.Error(err)
	}
	if sent := strings.Join(s.shards["s0"].Sent(), "; "); !strings.Contains(sent, "SET TRANSACTION READ ONLY; SET last_insert_id = 7; SELECT LAST_INSERT_ID()") {
		t.Errorf("s0 was sent %q", sent)
	}
	s.shards["s0"].Next(fakeshard.Reply{Prefix: "SET last_insert_id", Code: 1231})
	if _, err := s.one("INSERT INTO report (id) VALUES (LAST_INSERT_ID())", "s0"); !lost(err) {
		t.Error(err)
	}
	s.Vars.ForcedID = 12
	if _, err := s.one("INSERT INTO report (id) VALUES (1)", "s0"); err != nil || s.Vars.ForcedID != 0 {
		t.Errorf("%v, insert_id is still %d", err, s.Vars.ForcedID)
	}
}

// TestTakenOver: state that only one connection has reserves that connection for the session until the state is removed.
func TestTakenOver(t *testing.T) {
	for _, c := range []struct {
		takes, ends string
		reason      txn.Reason
	}{
		{"CREATE TEMPORARY TABLE t (a INT)", "DROP TEMPORARY TABLE t", txn.TemporaryTable},
		{"HANDLER t OPEN", "HANDLER t CLOSE", txn.Handler},
		{"SELECT f(1)", "", txn.Routine},
		{"CALL p()", "", txn.Procedure},
		{"LOCK TABLES t WRITE", "", txn.LockedTables},
		{"XA START 'a'", "", txn.GlobalTransaction},
	} {
		s := newStand(t)
		if _, err := s.one(c.takes, "s0"); err != nil || !s.Conns.Reserved(c.reason) {
			t.Errorf("%s: %v, reserved is %t", c.takes, err, s.Conns.Reserved(c.reason))
		}
		if c.ends == "" {
			continue
		}
		if _, err := s.one(c.ends, "s0"); err != nil || s.Conns.ReservesAny() {
			t.Errorf("%s: %v, %s", c.ends, err, s.Conns.ReservedWords())
		}
	}
	s := newStand(t)
	s.shards["s0"].Next(fakeshard.Reply{Prefix: "CREATE", Code: 1050})
	if _, err := s.one("CREATE TEMPORARY TABLE t (a INT)", "s0"); err != nil || s.Conns.ReservesAny() {
		t.Errorf("%v, %s", err, s.Conns.ReservedWords())
	}
}

// TestNamedLockTakenOver: a named lock reserves its connection as long as the server reports it as held.
func TestNamedLockTakenOver(t *testing.T) {
	s := newStand(t)
	s.shards["s0"].Hold(true)
	if _, err := s.one("SELECT GET_LOCK('a', 0)", "s0"); err != nil || !s.Conns.Reserved(txn.NamedLock) {
		t.Errorf("%v, %q", err, s.Conns.ReservedWords())
	}
	s.shards["s0"].Hold(false)
	if _, err := s.one("SELECT RELEASE_LOCK('a')", "s0"); err != nil || s.Conns.ReservesAny() {
		t.Errorf("%v, %q", err, s.Conns.ReservedWords())
	}
}

// TestValuesTakenOver: counts that only the shard knows are read, and so are user variables that a statement assigns. If the
// variables can't be read, the session ends before its next statement.
func TestValuesTakenOver(t *testing.T) {
	s := newStand(t)
	found := rows("40")
	found.Prefix = "SELECT FOUND_ROWS()"
	s.shards["s0"].Next(found)
	if _, err := s.one("SELECT SQL_CALC_FOUND_ROWS id FROM report LIMIT 1", "s0"); err != nil || s.Vars.FoundRows != 40 {
		t.Errorf("%v, %d rows found", err, s.Vars.FoundRows)
	}
	given := rows("41")
	given.Prefix = "SELECT LAST_INSERT_ID()"
	s.shards["s0"].Next(given)
	if _, err := s.one("SELECT f(1)", "s0"); err != nil || s.Vars.InsertID != 41 {
		t.Errorf("%v, LAST_INSERT_ID() is %d", err, s.Vars.InsertID)
	}
	s.shards["s1"].Next(fakeshard.Reply{Prefix: "SELECT HEX", Code: 1153})
	if _, err := s.one("SELECT @a := id FROM report", "s1"); err != nil || s.Unreadable == nil {
		t.Errorf("%v, unreadable: %v", err, s.Unreadable)
	}
}

// TestUnlocked: with autocommit off, the metadata locks of a connection are ended before it is given back.
func TestUnlocked(t *testing.T) {
	s := newStand(t)
	s.Vars.Autocommit = false
	if _, err := s.one("CALL p()", "s0"); err != nil {
		t.Error(err)
	}
	if sent := s.log.Statements("s0"); sent[len(sent)-1] != "COMMIT" {
		t.Errorf("s0 was sent %q", sent)
	}
}

// TestInsertOne: the OK packet contains the first generated ID if the row was inserted, and not updated.
func TestInsertOne(t *testing.T) {
	for _, affected := range []uint64{1, 2} {
		s := newStand(t)
		w := s.execution("INSERT INTO orders (buyer, amount) VALUES (7, 5) ON DUPLICATE KEY UPDATE amount = 6")
		p := w.Plan.(*plan.Stamped)
		result, err := w.stamp(p)
		if err != nil {
			t.Fatal(err)
		}
		shard := w.Snapshot.Map.Shard(result.Shards[0].Shard)
		s.shards[shard].Next(fakeshard.Reply{Prefix: "INSERT", Affected: affected})
		got, err := s.told(func() error { return w.insertOne(p, result) })
		if err != nil {
			t.Fatal(err)
		}
		ok, err := wire.ParseOK([]byte(got[4:]), s.Client.Capabilities)
		if err != nil {
			t.Fatal(err)
		}
		want := result.FirstID.Lo
		if affected == 2 {
			want = 0
		}
		if ok.LastInsertID != want || s.Vars.InsertID != want {
			t.Errorf("%d rows: the client is told %d, kept is %d, want %d", affected, ok.LastInsertID, s.Vars.InsertID, want)
		}
	}
}

// TestAnywhere: a statement that any shard would answer alike is sent to the next shard if one is unreachable.
func TestAnywhere(t *testing.T) {
	s := newStand(t)
	s.unsent["s0"] = &lostBefore
	all := s.StandIns(s.Current())
	var tried []router.ShardName
	run := func(shard router.ShardName, how txn.Mode) error {
		tried = append(tried, shard)
		w := s.execution("SELECT 1")
		w.AcquireMode = how
		return w.oneShard(Part{Shard: shard}, nil)
	}
	if _, err := s.told(func() error { return s.Anywhere(all, true, run) }); err != nil || len(tried) != 2 || tried[1] != "s1" {
		t.Errorf("%v, tried %v", err, tried)
	}
	tried = nil
	s.unsent["s0"] = errors.New("the client is gone")
	if _, err := s.told(func() error { return s.Anywhere(all, true, run) }); err == nil || len(tried) != 1 {
		t.Errorf("%v, tried %v", err, tried)
	}
}

// lostBefore is the error of a connection that was lost before anything was sent.
var lostBefore = backend.LostError{Shard: "s0", Err: errors.New("gone")}
