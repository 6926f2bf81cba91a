package exec

import (
	"context"
	"fmt"
	"net"
	"slices"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/fakeshard"
	"locus/proxy/backend"
	"locus/proxy/gather"
	"locus/proxy/scatter"
	"locus/proxy/stream"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
)

var numbers = []wire.Column{fakeshard.Number("a")}

func rows(values ...string) fakeshard.Reply {
	r := fakeshard.Reply{Prefix: "SELECT", Columns: numbers}
	for _, v := range values {
		r.Rows = append(r.Rows, []string{v})
	}
	return r
}

// merged merges the answers of two shards, and returns the rows that the client got.
func (s *stand) merged() ([]string, scatter.Outcome, error) {
	s.t.Helper()
	near, far := net.Pipe()
	got := make(chan []string)
	go func() {
		in := stream.New(far)
		var list []string
		ends := 0
		for ends < 2 {
			payload, _, err := in.Payload()
			if err != nil {
				break
			}
			if ends == 1 && !wire.IsEOF(payload) && !wire.IsERR(payload) {
				list = append(list, string(payload[1:]))
			}
			if wire.IsERR(payload) {
				ends = 2
			}
			if wire.IsEOF(payload) {
				ends++
			}
			in.Done()
		}
		got <- list
	}()
	defer far.Close()
	s.Client.Stream, s.Client.Seq = stream.New(near), 1
	leases, err := s.sendAll(parts("SELECT a", "s0", "s1"), txn.Writes)
	if err != nil {
		s.t.Fatal(err)
	}
	outcome, err := s.merge(leases, &plan.Merge{}, scatter.Text, plan.Window{}, scatter.Options{})
	_ = near.Close()
	return <-got, outcome, err
}

func TestMerge(t *testing.T) {
	s := newStand(t)
	s.shards["s0"].Next(rows("1", "2"))
	s.shards["s1"].Next(rows("3"))
	s.Observer.Read(s.Execution.Values.Lexed)
	got, outcome, err := s.merged()
	if err != nil || outcome.Rows != 3 || !slices.Equal(got, []string{"1", "2", "3"}) {
		t.Errorf("%q, %+v, %v", got, outcome, err)
	}
	warns := rows("4")
	warns.Warnings = 2
	s.shards["s0"].Next(warns)
	s.shards["s1"].Next(rows("5"))
	if _, outcome, err = s.merged(); err != nil || outcome.Warnings != 2 || len(s.log.WarnedBy()) == 0 {
		t.Errorf("%+v, %v, warned by %v", outcome, err, s.log.WarnedBy())
	}
}

// TestMergeFails: after a refusal all connections stay in use. A lost connection ends the transaction.
func TestMergeFails(t *testing.T) {
	for name, c := range map[string]struct {
		reply fakeshard.Reply
		lost  bool
	}{
		"refused": {fakeshard.Reply{Prefix: "SELECT", Code: 1146}, false},
		"lost":    {fakeshard.Reply{Prefix: "SELECT", Cut: fakeshard.Before}, true},
	} {
		s := newStand(t)
		s.begin()
		s.shards["s0"].Next(rows("1"))
		s.shards["s1"].Next(c.reply)
		if got, _, err := s.merged(); got != nil || lost(err) != c.lost || refused(err, 1146) == c.lost {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if s.Conns.Running() == c.lost || s.Conns.Lost() != c.lost {
			t.Errorf("%s: running is %t", name, s.Conns.Running())
		}
	}
}

// collected gathers the rows of two shards on a third.
func (s *stand) collected(limit int64) error {
	s.t.Helper()
	at, err := s.Conns.AcquireAs("s2", 0, backend.Default)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { at.Done(at.Conn.Status()) }()
	column, err := gather.Of(numbers[0])
	if err != nil {
		s.t.Fatal(err)
	}
	leases, err := s.sendAll(parts("SELECT a", "s0", "s1"), txn.Writes)
	if err != nil {
		s.t.Fatal(err)
	}
	into := &gather.Table{Conn: at.Conn, Name: "t", Columns: []gather.Column{column}, Left: &gather.Limits{Rows: limit, Bytes: 1 << 20}}
	_, err = s.collect(context.Background(), leases, into, 1<<20)
	return err
}

func TestCollect(t *testing.T) {
	s := newStand(t)
	warns := rows("1")
	warns.Warnings = 1
	s.shards["s0"].Next(warns)
	s.shards["s1"].Next(rows("3"))
	s.Observer.Read(s.Execution.Values.Lexed)
	if err := s.collected(10); err != nil {
		t.Error(err)
	}
	s.log.Sent(map[router.ShardName]string{"s0": "SELECT a", "s1": "SELECT a", "s2": "INSERT INTO t VALUES (1); INSERT INTO t VALUES (3)"})
	if !slices.Equal(s.log.WarnedBy(), []router.ShardName{"s0"}) {
		t.Errorf("warned by %v", s.log.WarnedBy())
	}
}

// TestCollectFails: after an error the answers of the other shards are read and discarded, so that their connections stay in use.
func TestCollectFails(t *testing.T) {
	for name, c := range map[string]struct {
		reply fakeshard.Reply
		is    func(error) bool
	}{
		"refused": {fakeshard.Reply{Prefix: "SELECT", Code: 1146}, func(err error) bool { return refused(err, 1146) }},
		"lost":    {fakeshard.Reply{Prefix: "SELECT", Cut: fakeshard.Within}, lost},
		"many":    {rows("1", "2", "3"), func(err error) bool { return fmt.Sprintf("%T", err) == "*gather.LimitError" }},
	} {
		s := newStand(t)
		s.shards["s0"].Next(c.reply)
		s.shards["s1"].Next(rows("4"))
		if err := s.collected(2); !c.is(err) {
			t.Errorf("%s: %v", name, err)
		}
		if got := s.log.Statements("s2"); len(got) != 0 {
			t.Errorf("%s: s2 was sent %q", name, got)
		}
	}
}

// TestCollectInATransaction: the transaction ends if a shard ends it or a connection is lost.
func TestCollectInATransaction(t *testing.T) {
	for name, reply := range map[string]fakeshard.Reply{
		"deadlock": {Prefix: "SELECT", Code: mysql.ER_LOCK_DEADLOCK, Ends: true}, "lost": {Prefix: "SELECT", Cut: fakeshard.Before},
	} {
		s := newStand(t)
		s.begin()
		s.shards["s0"].Next(rows("1"))
		s.shards["s1"].Next(reply)
		if err := s.collected(10); refused(err, mysql.ER_LOCK_DEADLOCK) == lost(err) {
			t.Errorf("%s: %v", name, err)
		}
		if s.Conns.Running() {
			t.Errorf("%s: the transaction continues", name)
		}
	}
}
