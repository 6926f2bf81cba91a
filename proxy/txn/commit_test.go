package txn

import (
	"errors"
	"slices"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/fakeshard"
	"locus/proxy/twophase"
	"locus/router"
	"locus/router/stmt"
)

// A transaction of one shard is committed there. If the commit fails, the error reports what is known of it.
func TestCommitOnOneShard(t *testing.T) {
	for name, c := range map[string]struct {
		fakeshard.Reply
		code    uint16
		text    string
		verdict twophase.Verdict
	}{
		"done":    {fakeshard.Reply{Prefix: "none"}, 0, "", twophase.Committed},
		"refused": {fakeshard.Reply{Prefix: "COMMIT", Code: 3101, Ends: true}, 3101, "refused", twophase.RolledBack},
		"lost":    {fakeshard.Reply{Prefix: "COMMIT", Cut: fakeshard.Before}, erCommitError, "whether it was committed there is unknown", twophase.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStand(t, XA)
			begin(t, s)
			s.must("s0", "UPDATE a", Writes)
			s.shards["s0"].Next(c.Reply)
			if err := s.Commit(); c.code == 0 && err != nil {
				t.Error(err)
			} else if c.code != 0 {
				says(t, err, c.code, c.text)
			}
			s.is(false)
			s.sent("s0", "BEGIN", "UPDATE a", "COMMIT")
			s.ended(c.verdict, 1, 0)
			if s.client.Shields != 2 { // BEGIN commits too
				t.Errorf("shielded %d times", s.client.Shields)
			}
		})
	}
}

// A transaction that has begun on no shard sends nothing.
func TestCommitOfNothing(t *testing.T) {
	s := newStand(t, XA)
	begin(t, s)
	if err := s.Commit(); err != nil {
		t.Error(err)
	}
	s.is(false)
	s.ended(twophase.Committed, 0, 0)
}

// With Multi, the error of a commit reports the outcome on the other shards.
func TestCommitShardByShard(t *testing.T) {
	for name, c := range map[string]struct {
		at      router.ShardName
		fault   fakeshard.Reply
		code    uint16
		text    string
		verdict twophase.Verdict
	}{
		"done":           {"s0", fakeshard.Reply{Prefix: "none"}, 0, "", twophase.Committed},
		"first refused":  {"s0", fakeshard.Reply{Prefix: "COMMIT", Code: 3101, Ends: true}, 3101, "refused", twophase.RolledBack},
		"second refused": {"s1", fakeshard.Reply{Prefix: "COMMIT", Code: 3101, Ends: true}, erCommitError, "it was rolled back there; it is committed on s0; it was rolled back on s2", twophase.Unknown},
		"last lost":      {"s2", fakeshard.Reply{Prefix: "COMMIT", Cut: fakeshard.Within}, erCommitError, "whether it was committed there is unknown; it is committed on s0, s1", twophase.Unknown},
		"first lost":     {"s0", fakeshard.Reply{Prefix: "COMMIT", Cut: fakeshard.Before}, erCommitError, "is unknown; it was rolled back on s1; it was rolled back on s2", twophase.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStand(t, Multi)
			begin(t, s)
			for _, shard := range []router.ShardName{"s0", "s1", "s2"} {
				s.must(shard, "UPDATE a", Writes)
				s.sent(shard, "BEGIN", "UPDATE a")
			}
			s.shards[c.at].Next(c.fault)
			if err := s.Commit(); c.code == 0 && err != nil {
				t.Error(err)
			} else if c.code != 0 {
				says(t, err, c.code, c.text)
			}
			s.is(false)
			s.ended(c.verdict, 0, 1)
		})
	}
}

// Branches that have only read take no part in the two phases.
func TestWhoTakesPart(t *testing.T) {
	for name, c := range map[string]struct {
		writes []router.ShardName
		want   map[router.ShardName][]string
	}{
		"nobody writes": {nil, map[router.ShardName][]string{
			"s0": {"COMMIT"}, "s1": {"XA END t1", "XA COMMIT t1 ONE PHASE"}, "s2": {"XA END t1", "XA COMMIT t1 ONE PHASE"},
		}},
		"home writes": {[]router.ShardName{"s0"}, map[router.ShardName][]string{
			"s0": {"COMMIT"}, "s1": {"XA END t1", "XA COMMIT t1 ONE PHASE"}, "s2": {"XA END t1", "XA COMMIT t1 ONE PHASE"},
		}},
		"another writes": {[]router.ShardName{"s1"}, map[router.ShardName][]string{
			"s0": {"COMMIT"}, "s1": {"XA END t1", "XA COMMIT t1 ONE PHASE"}, "s2": {"XA END t1", "XA COMMIT t1 ONE PHASE"},
		}},
		"home and another": {[]router.ShardName{"s0", "s2"}, map[router.ShardName][]string{
			"s0": {"DO 0", "INSERT decision [s2]", "COMMIT"}, "s1": {"XA END t1", "XA COMMIT t1 ONE PHASE"}, "s2": {"XA END t1", "XA PREPARE t1", "XA COMMIT t1"},
		}},
		"two others": {[]router.ShardName{"s2", "s1"}, map[router.ShardName][]string{
			"s0": {"DO 0", "INSERT decision [s1 s2]", "COMMIT"}, "s1": {"XA END t1", "XA PREPARE t1", "XA COMMIT t1"}, "s2": {"XA END t1", "XA PREPARE t1", "XA COMMIT t1"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := spanned(t, c.writes...)
			if err := s.Commit(); err != nil {
				t.Error(err)
			}
			s.is(false)
			s.ended(twophase.Committed, 0, 1)
			for shard, want := range c.want {
				s.sent(shard, want...)
			}
			if forgets := slices.Equal(s.coordinator.Calls, []string{"forget t1"}); forgets != (len(c.writes) > 1) {
				t.Errorf("%v", s.coordinator.Calls)
			}
		})
	}
}

// spanned returns a session with a transaction on three shards. It has written on the given ones.
func spanned(t testing.TB, writes ...router.ShardName) *stand {
	t.Helper()
	s := newStand(t, XA)
	begin(t, s)
	for _, shard := range []router.ShardName{"s0", "s1", "s2"} {
		s.must(shard, "SELECT a", 0)
		if slices.Contains(writes, shard) {
			s.must(shard, "UPDATE a", Writes)
		}
		s.shards[shard].Sent()
	}
	return s
}

// The outcome of a transaction that has written on s0, its home, and on s1, if an error occurs at each of the steps.
func TestTwoPhasesThatFail(t *testing.T) {
	for name, c := range map[string]struct {
		at      router.ShardName
		fault   fakeshard.Reply
		settles twophase.Verdict
		code    uint16 // 0 if it was committed
		text    string
		verdict twophase.Verdict
		calls   []string
	}{
		"reader lost":         {"s2", fakeshard.Reply{Prefix: "XA COMMIT", Cut: fakeshard.Before}, 0, erCommitError, "was rolled back on every shard", twophase.RolledBack, nil},
		"reader refused":      {"s2", fakeshard.Reply{Prefix: "XA END", Code: 1614}, 0, mysql.ER_LOCK_DEADLOCK, "was rolled back on every shard", twophase.RolledBack, nil},
		"prepare refused":     {"s1", fakeshard.Reply{Prefix: "XA PREPARE", Code: 1402}, 0, mysql.ER_LOCK_DEADLOCK, "was rolled back on every shard", twophase.RolledBack, nil},
		"prepare lost":        {"s1", fakeshard.Reply{Prefix: "XA PREPARE", Cut: fakeshard.Before}, 0, erCommitError, "was rolled back on every shard", twophase.RolledBack, []string{"leave t1"}},
		"home ended":          {"s0", fakeshard.Reply{Prefix: "DO 0", Ends: true}, 0, erCommitError, "its server has ended the transaction", twophase.RolledBack, nil},
		"home lost":           {"s0", fakeshard.Reply{Prefix: "DO 0", Cut: fakeshard.Within}, 0, erCommitError, "was rolled back on every shard", twophase.RolledBack, nil},
		"decision forbidden":  {"s0", fakeshard.Reply{Prefix: "INSERT", Code: mysql.ER_DUP_ENTRY}, 0, erCommitError, "recovery has rolled it back", twophase.RolledBack, nil},
		"decision refused":    {"s0", fakeshard.Reply{Prefix: "INSERT", Code: 1146}, 0, 1146, "insert the decision", twophase.RolledBack, []string{"doubt s0"}},
		"decision lost":       {"s0", fakeshard.Reply{Prefix: "INSERT", Cut: fakeshard.Before}, 0, erCommitError, "insert the decision", twophase.RolledBack, []string{"doubt s0"}},
		"committed after all": {"s0", fakeshard.Reply{Prefix: "COMMIT", Cut: fakeshard.Before}, twophase.Committed, 0, "", twophase.Committed, []string{"settle", "forget t1"}},
		"rolled back":         {"s0", fakeshard.Reply{Prefix: "COMMIT", Cut: fakeshard.Before}, twophase.RolledBack, erCommitError, "was rolled back on every shard", twophase.RolledBack, []string{"settle"}},
		"nobody knows":        {"s0", fakeshard.Reply{Prefix: "COMMIT", Cut: fakeshard.Before}, twophase.Unknown, erCommitError, "is not known yet", twophase.Unknown, []string{"settle", "leave t1"}},
		"second phase lost":   {"s1", fakeshard.Reply{Prefix: "XA COMMIT", Cut: fakeshard.Before}, 0, 0, "", twophase.Committed, []string{"leave t1"}},
		"recovery was first":  {"s1", fakeshard.Reply{Prefix: "XA COMMIT", Code: mysql.ER_XAER_NOTA}, 0, 0, "", twophase.Committed, []string{"forget t1"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := spanned(t, "s0", "s1")
			s.coordinator.Verdict = c.settles
			if c.settles == twophase.Unknown {
				s.coordinator.Settled = errors.New("nobody answers")
			}
			s.shards[c.at].Next(c.fault)
			if err := s.Commit(); c.code == 0 && err != nil {
				t.Error(err)
			} else if c.code != 0 {
				says(t, err, c.code, c.text)
			}
			s.is(false)
			s.ended(c.verdict, 0, 1)
			if !slices.Equal(s.coordinator.Calls, c.calls) {
				t.Errorf("%v, want %v", s.coordinator.Calls, c.calls)
			}
			begin(t, s) // the session continues
			s.must("s0", "UPDATE a", Writes)
			s.must("s1", "UPDATE a", Writes)
			s.RollBack()
		})
	}
}

// Branches are prepared in the order of their shards' names, whatever the order in which they joined.
func TestOrderOfBranches(t *testing.T) {
	s := newStand(t, XA)
	begin(t, s)
	for _, shard := range []router.ShardName{"s0", "s2", "s1"} {
		s.must(shard, "UPDATE a", Writes)
	}
	if err := s.Commit(); err != nil {
		t.Error(err)
	}
	s.sent("s0", "BEGIN", "UPDATE a", "DO 0", "INSERT decision [s1 s2]", "COMMIT")
}

// The only branch that has written is committed in one phase, or not at all.
func TestTheOnlyWriterFails(t *testing.T) {
	s := spanned(t, "s1")
	s.shards["s1"].Next(fakeshard.Reply{Prefix: "XA COMMIT", Code: 1402})
	says(t, s.Commit(), 1402, "refused")
	s.is(false)
	s.ended(twophase.RolledBack, 0, 1)
}

// If a process ends at any of these points, recovery can finish the transaction.
func TestPointsOfACommit(t *testing.T) {
	s := spanned(t, "s0", "s1", "s2")
	if err := s.Commit(); err != nil {
		t.Error(err)
	}
	want := []string{
		"before-prepare", "after-prepare(0)", "after-prepare(1)", "after-prepare(2)", "before-decision", "decided", "after-decision",
		"after-commit(0)", "after-commit(1)", "before-forget",
	}
	if !slices.Equal(s.stops, want) {
		t.Errorf("%v, want %v", s.stops, want)
	}
}

// XA END is not sent again to a prepared branch before its rollback.
func TestPreparedIsRolledBack(t *testing.T) {
	s := spanned(t, "s0", "s1", "s2")
	s.shards["s0"].Next(fakeshard.Reply{Prefix: "DO 0", Ends: true})
	if err := s.Commit(); err == nil {
		t.Error("it is committed")
	}
	s.sent("s1", "XA END t1", "XA PREPARE t1", "XA ROLLBACK t1")
	s.sent("s2", "XA END t1", "XA PREPARE t1", "XA ROLLBACK t1")
}

// A branch whose server refused to prepare it is ended first. A branch that can't be rolled back is left to recovery if it may be prepared.
// Otherwise it ends with its connection.
func TestRefusedToPrepare(t *testing.T) {
	for name, c := range map[string]struct {
		also fakeshard.Reply
		left []string
	}{"rolled back": {fakeshard.Reply{Prefix: "none"}, nil}, "lost": {fakeshard.Reply{Prefix: "XA ROLLBACK", Cut: fakeshard.Before}, nil}} {
		s := spanned(t, "s0", "s1")
		s.shards["s1"].Next(fakeshard.Reply{Prefix: "XA PREPARE", Code: 1402}, c.also)
		if s.Commit() == nil {
			t.Errorf("%s: it is committed", name)
		}
		s.sent("s1", "XA END t1", "XA PREPARE t1", "XA END t1", "XA ROLLBACK t1")
		if !slices.Equal(s.coordinator.Calls, c.left) {
			t.Errorf("%s: %v", name, s.coordinator.Calls)
		}
	}
	s := spanned(t, "s0", "s1")
	s.shards["s0"].Next(fakeshard.Reply{Prefix: "DO 0", Ends: true})
	s.shards["s1"].Next(fakeshard.Reply{Prefix: "XA ROLLBACK", Cut: fakeshard.Before})
	if s.Commit() == nil || !slices.Equal(s.coordinator.Calls, []string{"leave t1"}) {
		t.Errorf("%v", s.coordinator.Calls)
	}
}

// A rollback that fails closes the connection, which rolls back too.
func TestRollbackThatFails(t *testing.T) {
	s := spanned(t, "s0", "s1")
	s.shards["s0"].Next(fakeshard.Reply{Prefix: "ROLLBACK", Cut: fakeshard.Before})
	s.shards["s1"].Next(fakeshard.Reply{Prefix: "XA END", Code: 1399}) // for example because the branch is already rolled back
	s.shards["s2"].Next(fakeshard.Reply{Prefix: "XA END", Cut: fakeshard.Before})
	s.RollBack()
	s.is(false)
	s.sent("s1", "XA END t1", "XA ROLLBACK t1")
	s.ended(twophase.RolledBack, 0, 1)
}

// On MySQL, a second BEGIN keeps the characteristics of the transaction that it ends.
func TestBeginCommits(t *testing.T) {
	s := newStand(t, XA)
	begin(t, s)
	s.must("s0", "UPDATE a", Writes)
	s.shards["s0"].Next(fakeshard.Reply{Prefix: "COMMIT", Code: 3101, Ends: true})
	says(t, s.Begin(stmt.Opening{}), 3101, "refused")
	s.is(false)
	begin(t, s)
	s.must("s0", "UPDATE a", Writes)
	begin(t, s)
	s.is(true)
	s.sent("s0", "BEGIN", "UPDATE a", "COMMIT", "BEGIN", "UPDATE a", "COMMIT")
}
