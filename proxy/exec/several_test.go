package exec

import (
	"errors"
	"math"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/fakeshard"
	"locus/proxy/txn"
	"locus/router"
)

// TestNothingIsSentWithoutAllConnections: nothing is sent before a connection to each shard is acquired, and all parts are sent
// before any answer is read.
func TestNothingIsSentWithoutAllConnections(t *testing.T) {
	s := newStand(t)
	if _, err := s.change(parts("UPDATE a", "s0", "nowhere")); err == nil {
		t.Error("an unknown shard has run its part")
	}
	s.log.Sent(nil)
	if total, err := s.change(parts("UPDATE a", "s0", "s1", "s2")); err != nil || total.Affected != 3 {
		t.Errorf("%+v, %v", total, err)
	}
	s.log.Sent(map[router.ShardName]string{"s0": "UPDATE a", "s1": "UPDATE a", "s2": "UPDATE a"})
}

// TestUnsent: after a part that can't be sent, the following ones are not sent. The answers to the preceding ones are read if they
// count.
func TestUnsent(t *testing.T) {
	s := newStand(t)
	s.unsent["s1"] = &mysql.MyError{Code: 1064, State: "42000", Message: "its PREPARE"}
	total, err := s.change(parts("UPDATE a", "s0", "s1", "s2"))
	if !refused(err, 1064) || total.Affected != 1 {
		t.Errorf("%+v, %v", total, err)
	}
	if leases, err := s.sendAll(parts("UPDATE b", "s0", "s1", "s2"), txn.Writes); !refused(err, 1064) || leases != nil {
		t.Errorf("%v, %v", leases, err)
	}
	s.unsent["s1"] = errors.New("gone")
	if _, err := s.change(parts("UPDATE c", "s0", "s1", "s2")); err == nil || err.Error() != "gone" {
		t.Error(err)
	}
	if got := s.log.Statements("s2"); len(got) != 0 {
		t.Errorf("s2 was sent %q", got)
	}
}

// TestUnsentInATransaction: a part that can't be sent ends the transaction if its connection is lost.
func TestUnsentInATransaction(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		lost bool
	}{"refused": {&mysql.MyError{Code: 1064}, false}, "lost": {errors.New("gone"), true}} {
		s := newStand(t)
		s.begin()
		s.unsent["s1"] = c.err
		if _, err := s.change(parts("UPDATE b", "s0", "s1")); !errors.Is(err, c.err) {
			t.Errorf("%s: %v", name, err)
		}
		if s.Conns.Lost() != c.lost || s.Conns.Running() == c.lost {
			t.Errorf("%s: lost is %t, running %t", name, s.Conns.Lost(), s.Conns.Running())
		}
	}
}

// TestChange: the totals include the parts that succeeded. The error is the first shard's.
func TestChange(t *testing.T) {
	s := newStand(t)
	s.shards["s0"].Next(fakeshard.Reply{Prefix: "UPDATE", Info: "Rows matched: 5  Changed: 3  Warnings: 0"})
	s.shards["s1"].Next(fakeshard.Reply{Prefix: "UPDATE", Info: "Rows matched: 2  Changed: 1  Warnings: 0"})
	s.Observer.Read(s.Execution.Values.Lexed)
	total, err := s.change(parts("UPDATE a", "s0", "s1"))
	if want := (totals{Affected: 2, Matched: 7, Changed: 4, Info: "Rows matched: 5  Changed: 3  Warnings: 0"}); err != nil || total != want {
		t.Errorf("%+v, %v; want %+v", total, err, want)
	}
	s.shards["s1"].Next(fakeshard.Reply{Prefix: "UPDATE", Code: 1062})
	s.shards["s2"].Next(fakeshard.Reply{Prefix: "UPDATE", Code: 1213})
	if total, err = s.change(parts("UPDATE a", "s0", "s1", "s2")); !refused(err, 1062) || total.Affected != 1 {
		t.Errorf("%+v, %v", total, err)
	}
}

// TestChangeInATransaction: a lost part ends the transaction. A refused part leaves that decision to the owner of the transaction.
func TestChangeInATransaction(t *testing.T) {
	for name, c := range map[string]struct {
		reply fakeshard.Reply
		lost  bool
	}{
		"refused":     {fakeshard.Reply{Prefix: "UPDATE b", Code: 1062}, false},
		"lost before": {fakeshard.Reply{Prefix: "UPDATE b", Cut: fakeshard.Before}, true},
		"lost within": {fakeshard.Reply{Prefix: "UPDATE b", Cut: fakeshard.Within}, true},
	} {
		s := newStand(t)
		s.begin()
		s.shards["s1"].Next(c.reply)
		if _, err := s.change(parts("UPDATE b", "s0", "s1")); lost(err) != c.lost || refused(err, 1062) == c.lost {
			t.Errorf("%s: %v", name, err)
		}
		if s.Conns.Running() == c.lost {
			t.Errorf("%s: running is %t", name, s.Conns.Running())
		}
	}
}

func TestCodeOf(t *testing.T) {
	for err, want := range map[error]uint16{nil: 0, &mysql.MyError{Code: 7}: 7, errors.New("gone"): 1158} {
		if got := txn.CodeOf(err); got != want {
			t.Errorf("%v is %d, want %d", err, got, want)
		}
	}
}

// TestWarningsOfSeveral checks that the sum of the shards' warnings is limited to the maximum of a packet. It doesn't wrap
// around.
func TestWarningsOfSeveral(t *testing.T) {
	for _, copies := range []bool{false, true} {
		s := newStand(t)
		for _, shard := range []router.ShardName{"s0", "s1"} {
			s.shards[shard].Next(fakeshard.Reply{Prefix: "UPDATE", Warnings: 60_000})
		}
		want := uint16(math.MaxUint16)
		if copies {
			want = 60_000
		}
		if copies {
			s.Execution = s.execution("UPDATE country SET id = 1")
		}
		if total, err := s.change(parts("UPDATE a", "s0", "s1")); err != nil || total.Warnings != want {
			t.Errorf("copies: %t: %d warnings, %v; want %d", copies, total.Warnings, err, want)
		}
	}
}

// TestTheFirstCopyDecides: of concurrent changes of a global table's row, the first shard decides which comes first. The other
// shards are sent the change after its answer, and not at all if it refuses.
func TestTheFirstCopyDecides(t *testing.T) {
	s := newStand(t)
	s.Execution = s.execution("UPDATE country SET id = 1")
	s.shards["s0"].Next(fakeshard.Reply{Prefix: "UPDATE", Code: 1062})
	if _, err := s.change(parts("UPDATE a", "s0", "s1", "s2")); !refused(err, 1062) {
		t.Error(err)
	}
	s.log.Sent(map[router.ShardName]string{"s0": "UPDATE a"})
	s.shards["s1"].Next(fakeshard.Reply{Prefix: "UPDATE", Code: 1205})
	if _, err := s.change(parts("UPDATE b", "s0", "s1", "s2")); !refused(err, 1205) {
		t.Error(err)
	}
	if first, last := s.log.Statements("s0"), s.log.Statements("s2"); len(first) != 1 || last[0] != "UPDATE b" {
		t.Errorf("s0 was sent %q, s2 %q", first, last)
	}
	if total, err := s.change(parts("UPDATE c", "s0", "s1", "s2")); err != nil || total.Affected != 1 {
		t.Errorf("%+v, %v", total, err)
	}
}
