package txn

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"locus/proxy/backend"
	"locus/router"
)

// cutOff ends etcd's confirmation of the primary of s0. Stale reads are allowed there.
func (s *stand) cutOff() {
	s.t.Helper()
	var targets []backend.Target
	for _, name := range []router.ShardName{"s0", "s1", "s2"} {
		target := s.shards[name].Target(name)
		if name == "s0" {
			target.Epoch, target.StaleReads = 1, true
		}
		targets = append(targets, target)
	}
	s.Pools.(*backend.Registry).Apply(targets)
	pool, _ := s.Pools.Pool("s0")
	pool.Lease(1, time.Now())
}

// A read from the last known primary may write nothing, neither as a statement with autocommit nor in the transaction of a gathered read. Other
// statements are not sent there.
func TestReadsOfTheLastKnownPrimary(t *testing.T) {
	s := newStand(t, XA)
	s.cutOff()
	const reads = MayBeStale | ReadsOnly
	l := s.acquire("s0", reads)
	if got := s.shards["s0"].Sent(); !l.Stale() || !slices.ContainsFunc(got, func(text string) bool { return strings.Contains(text, "_read_only=1") }) {
		t.Errorf("stale: %v, sent %q", l.Stale(), got)
	}
	l.Release()
	if l := s.acquire("s1", reads); l.Stale() {
		t.Error("another shard's is stale")
	} else {
		l.Release()
	}
	if err := s.Reading(func() error {
		for range 2 {
			l := s.acquire("s0", reads)
			if !l.Stale() || !strings.Contains(l.Conn.Settings().String(), "read_only") {
				t.Errorf("stale: %v, it carries %v", l.Stale(), l.Conn.Settings())
			}
			l.Release()
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	for _, m := range []Mode{Soon, Soon | Writes} {
		if _, err := s.Acquire("s0", m); !errors.As(err, new(*backend.UnavailableError)) {
			t.Errorf("mode %v: %v", m, err)
		}
	}
	if l := s.acquire("s0", Apart|MayBeStale); !l.Stale() || strings.Contains(l.Conn.Settings().String(), "read_only") {
		t.Errorf("for temporary tables: stale: %v, it carries %v", l.Stale(), l.Conn.Settings())
	} else {
		l.Release()
	}
	if how := Describes(0); how != MayBeStale || Describes(Soon) != Soon || Describes(Repeatable) != Repeatable {
		t.Error("another shard is not asked first")
	}
}
