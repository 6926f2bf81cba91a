package exec

import (
	"errors"
	"slices"
	"testing"

	"locus/proxy/backend"
	"locus/router"
)

// Shards that can't be asked are left out, the rest are sent their parts; run again, they are left out from the start.
func TestSendPresent(t *testing.T) {
	for name, why := range map[string]error{
		"away":    &backend.UnavailableError{Shard: "s1", Reason: errors.New("refused")},
		"login":   &backend.LoginError{Shard: "s1", Err: errors.New("refused")},
		"severed": &backend.LostError{Shard: "s1", Err: errors.New("gone")},
	} {
		s := newStand(t)
		s.unsent["s1"] = why
		for range 2 {
			leases, err := s.SendPresent(parts("SELECT a", "s0", "s1", "s2"))
			if err != nil || len(leases) != 2 || len(s.Vars.Conditions) != 1 || !slices.Equal(s.Of.Absent, []router.ShardName{"s1"}) {
				t.Errorf("%s: %d leases, %v, without %v, %v", name, len(leases), err, s.Of.Absent, s.Vars.Conditions)
			}
			for _, l := range leases {
				l.Lost()
			}
		}
	}
}

// An answer is never without the last shard, nor without one that is only busy, or whose loss may have been its statement's.
func TestSendPresentFails(t *testing.T) {
	s := newStand(t)
	s.unsent["s0"] = &backend.UnavailableError{Shard: "s0", Reason: errors.New("refused")}
	if _, err := s.SendPresent(parts("SELECT a", "s0")); !errors.Is(err, s.unsent["s0"]) {
		t.Error(err)
	}
	for _, why := range []error{&backend.ExhaustedError{}, &backend.LostError{Shard: "s0", Sent: true, Err: errors.New("gone")}} {
		s.unsent["s0"] = why
		if _, err := s.SendPresent(parts("SELECT a", "s0", "s1")); !errors.Is(err, why) {
			t.Error(err)
		}
	}
	if s.Of.Absent != nil || len(s.Vars.Conditions) > 0 {
		t.Errorf("without %v, %v", s.Of.Absent, s.Vars.Conditions)
	}
}
