package exec

import (
	"errors"
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
		s.of.unsent["s1"] = why
		var lacks []router.ShardName
		absent := &Absent{Lack: func(shard router.ShardName, err error) {
			lacks = append(lacks, shard)
			if !errors.Is(err, why) {
				t.Errorf("%s: %v", name, err)
			}
		}}
		for range 2 {
			leases, err := s.SendPresent(parts("SELECT a", "s0", "s1", "s2"), absent)
			if err != nil || len(leases) != 2 || len(lacks) != 1 || len(absent.Shards) != 1 || absent.Shards[0] != "s1" {
				t.Errorf("%s: %d leases, %v, without %v", name, len(leases), err, absent.Shards)
			}
			for _, l := range leases {
				l.Lost()
			}
		}
	}
}

// An answer is never without the last shard, nor without one that is only busy, or whose loss may have been its statement's.
func TestSendPresentFails(t *testing.T) {
	lack := func(shard router.ShardName, err error) { t.Errorf("without %s: %v", shard, err) }
	s := newStand(t)
	s.of.unsent["s0"] = &backend.UnavailableError{Shard: "s0", Reason: errors.New("refused")}
	if _, err := s.SendPresent(parts("SELECT a", "s0"), &Absent{Lack: lack}); !errors.Is(err, s.of.unsent["s0"]) {
		t.Error(err)
	}
	for _, why := range []error{&backend.ExhaustedError{}, &backend.LostError{Shard: "s0", Sent: true, Err: errors.New("gone")}} {
		s.of.unsent["s0"] = why
		if _, err := s.SendPresent(parts("SELECT a", "s0", "s1"), &Absent{Lack: lack}); !errors.Is(err, why) {
			t.Error(err)
		}
	}
}
