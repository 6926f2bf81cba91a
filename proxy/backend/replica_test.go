package backend

import (
	"errors"
	"testing"
	"time"

	"locus/proxy/wire"
	"locus/router"
)

func status(column string, values ...string) *Rows {
	r := &Rows{Columns: []wire.Column{{Name: []byte("Source_Host")}, {Name: []byte(column)}}}
	for _, v := range values {
		row := [][]byte{[]byte("a"), []byte(v)}
		if v == "NULL" {
			row[1] = nil
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}

func TestHowFarAReplicaIsBehind(t *testing.T) {
	for _, c := range []struct {
		rows *Rows
		want time.Duration
		ok   bool
	}{
		{status("Seconds_Behind_Source", "0"), 0, true},
		{status("Seconds_Behind_Master", "7"), 7 * time.Second, true},
		{status("Seconds_Behind_Source", "1", "9", "3"), 9 * time.Second, true},
		{status("Seconds_Behind_Source", "1", "NULL"), 0, false},
		{status("Seconds_Behind_Source", "-1"), 0, false},
		{status("Seconds_Behind_Source"), 0, false},
		{status("Something_Else", "0"), 0, false},
	} {
		if got, err := c.rows.behind(); got != c.want || (err == nil) != c.ok {
			t.Errorf("%q: %v, %v, want %v", c.rows.Rows, got, err, c.want)
		}
	}
}

func TestWhichReplicaIsUsable(t *testing.T) {
	now := time.Unix(1e9, 0)
	r := &replica{maxLag: 2 * time.Second}
	if r.usable(now) {
		t.Error("one that was never measured")
	}
	for _, c := range []struct {
		lag  lag
		want bool
	}{
		{lag{at: now}, true},
		{lag{behind: 2 * time.Second, at: now}, true},
		{lag{behind: 3 * time.Second, at: now}, false},
		{lag{at: now, err: errors.New("stopped")}, false},
		{lag{at: now.Add(-measured)}, true},
		{lag{at: now.Add(-measured - time.Millisecond)}, false},
	} {
		r.state.Store(&c.lag)
		if got := r.usable(now); got != c.want {
			t.Errorf("%+v: usable %v", c.lag, got)
		}
	}
}

func TestReplicasOfTheRegistry(t *testing.T) {
	r, _ := fakeRegistry(t, Limits{})
	target := func(replicas ...string) Target {
		return Target{Shard: "s0", Addr: "primary:1", User: "proxy", Replicas: replicas}
	}
	good := func() {
		r.eachReplica(func(c *replica) { c.state.Store(&lag{at: time.Now()}) })
	}
	r.Apply([]Target{target("a:1", "b:1")})
	if _, ok := r.Replica("s0"); ok {
		t.Error("a replica is used before it was measured")
	}
	good()
	seen := map[*Pool]int{}
	for range 10 {
		p, ok := r.Replica("s0")
		if !ok {
			t.Fatal("no replica is usable")
		}
		seen[p]++
	}
	if len(seen) != 2 {
		t.Errorf("%d of two replicas are used", len(seen))
	}
	r.Apply([]Target{target("b:1")})
	p, ok := r.Replica("s0")
	if !ok || seen[p] == 0 {
		t.Error("a replica that stays has lost its connections, or its measurement")
	}
	for range 3 {
		if q, _ := r.Replica("s0"); q != p {
			t.Error("one that is gone is used")
		}
	}
	r.Apply([]Target{target()})
	if _, ok := r.Replica("s0"); ok {
		t.Error("a replica is used that is no longer declared")
	}
	if _, ok := r.Replica(router.ShardName("s9")); ok {
		t.Error("a shard without replicas has one")
	}
}

func TestAPoolsLimitIsTheShards(t *testing.T) {
	r, _ := fakeRegistry(t, Limits{MaxOpen: 10})
	target := Target{Shard: "s0", Addr: "primary:1", User: "proxy", MaxOpen: 3}
	r.Apply([]Target{target})
	p, _ := r.Pool("s0")
	var lent []*Conn
	for range 3 {
		c, err := p.Borrow(t.Context(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		lent = append(lent, c)
	}
	target.MaxOpen = 1
	r.Apply([]Target{target})
	for _, c := range lent {
		p.Return(c)
	}
	if s := p.Stats(); s.Limit != 1 || s.Open != 1 {
		t.Errorf("limit %d and %d open after it was lowered to 1", s.Limit, s.Open)
	}
	target.MaxOpen = 0
	r.Apply([]Target{target})
	if s := p.Stats(); s.Limit != 10 {
		t.Errorf("limit %d, want the process's 10", s.Limit)
	}
}
