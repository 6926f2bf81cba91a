package exec

import (
	"errors"
	"slices"
	"testing"

	"locus/proxy/backend"
	"locus/router"
)

// TestSendPresent: unreachable shards are omitted, and the others are sent their parts. A repeated read omits the same shards from
// the start.
func TestSendPresent(t *testing.T) {
	for name, why := range map[string]error{
		"down":    &backend.UnavailableError{Shard: "s1", Reason: errors.New("refused")},
		"login":   &backend.LoginError{Shard: "s1", Err: errors.New("refused")},
		"severed": &backend.LostError{Shard: "s1", Err: errors.New("gone")},
	} {
		s := newStand(t)
		s.unsent["s1"] = why
		for range 2 {
			leases, err := s.sendPresent(parts("SELECT a", "s0", "s1", "s2"), 0)
			if err != nil || len(leases) != 2 || len(s.Vars.Conditions) != 1 || !slices.Equal(s.Execution.Absent, []router.ShardName{"s1"}) {
				t.Errorf("%s: %d leases, %v, without %v, %v", name, len(leases), err, s.Execution.Absent, s.Vars.Conditions)
			}
			for _, l := range leases {
				l.Lost()
			}
		}
	}
}

// TestSendPresentFails: the last shard is never omitted. Neither is a shard that is only busy, or whose connection may have been
// lost because of the statement.
func TestSendPresentFails(t *testing.T) {
	s := newStand(t)
	s.unsent["s0"] = &backend.UnavailableError{Shard: "s0", Reason: errors.New("refused")}
	if _, err := s.sendPresent(parts("SELECT a", "s0"), 0); !errors.Is(err, s.unsent["s0"]) {
		t.Error(err)
	}
	for _, why := range []error{&backend.ExhaustedError{}, &backend.LostError{Shard: "s0", Sent: true, Err: errors.New("gone")}} {
		s.unsent["s0"] = why
		if _, err := s.sendPresent(parts("SELECT a", "s0", "s1"), 0); !errors.Is(err, why) {
			t.Error(err)
		}
	}
	if s.Execution.Absent != nil || len(s.Vars.Conditions) > 0 {
		t.Errorf("without %v, %v", s.Execution.Absent, s.Vars.Conditions)
	}
}
