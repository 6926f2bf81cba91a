package segment

import (
	"errors"
	"testing"
	"time"
)

// A process without any state detects a store that was restored to an earlier state.
func TestAWitnessFindsAStoreThatWentBack(t *testing.T) {
	kv, store := newFakeKV(), &granting{}
	open := func() *Witnessed { return NewWitnessed(store, NewCASStore(kv, "/witness/", "test", time.Now)) }
	if g, err := open().Extend(t.Context(), "tag", 100); err != nil || g != (Grant{1, 100}) {
		t.Fatal(g, err)
	}
	if g, err := open().Extend(t.Context(), "tag", 50); err != nil || g != (Grant{101, 150}) {
		t.Fatal(g, err)
	}
	store.bound["tag"] = 20 // restored
	for range 3 {
		if g, err := open().Extend(t.Context(), "tag", 10); !errors.Is(err, ErrWentBack) {
			t.Fatalf("granted %v, %v", g, err)
		}
	}
	store.bound["tag"] = 500 // the operator has fixed it
	if g, err := open().Extend(t.Context(), "tag", 10); err != nil || g.First != 501 {
		t.Fatal(g, err)
	}
}

// A counter that a change of the groups has closed stays closed. Numbers granted afterwards are not used.
func TestAWitnessThatIsClosed(t *testing.T) {
	kv, store := newFakeKV(), &granting{}
	witness := NewCASStore(kv, "/witness/", "test", time.Now).StartingAt(100)
	if bound, err := witness.Bound(t.Context(), "tag"); err != nil || bound != 99 {
		t.Fatal(bound, err)
	}
	if _, err := witness.closeCounter(t.Context(), "/witness/tag"); err != nil {
		t.Fatal(err)
	}
	store.bound = map[string]uint64{"tag": 200}
	if g, err := NewWitnessed(store, witness).Extend(t.Context(), "tag", 10); !errors.Is(err, ErrMoved) {
		t.Errorf("granted %v, %v", g, err)
	}
	if _, err := witness.Bound(t.Context(), "tag"); !errors.Is(err, ErrMoved) {
		t.Error(err)
	}
}

// A grant that was overtaken is lost, and no accusation.
func TestAnOvertakenGrantIsLost(t *testing.T) {
	kv, store := newFakeKV(), &granting{}
	slow := NewWitnessed(store, NewCASStore(kv, "/witness/", "slow", time.Now))
	if _, err := store.Extend(t.Context(), "tag", 10); err != nil { // 1..10, not noted yet
		t.Fatal(err)
	}
	if g, err := slow.Extend(t.Context(), "tag", 10); err != nil || g.First != 11 {
		t.Fatal(g, err)
	}
	if ok, bound, err := slow.witness.note(t.Context(), "tag", Grant{1, 10}); ok || bound != 20 || err != nil {
		t.Fatalf("1..10 were noted after 11..20: %v %d %v", ok, bound, err)
	}
}

// A grant that could not be recorded at the witness is lost. The witness must not count as set back, whether it has recorded
// the grant or not.
func TestAGrantThatCouldNotBeNoted(t *testing.T) {
	for _, fate := range []fault{failBefore, failAfter, failLate} {
		kv, store := newFakeKV(), &granting{}
		w := NewWitnessed(store, NewCASStore(kv, "/witness/", "test", time.Now))
		if _, err := w.Extend(t.Context(), "tag", 10); err != nil {
			t.Fatal(err)
		}
		kv.fault = func(op string) fault {
			if op == "get" {
				return noFault
			}
			return fate
		}
		if g, err := w.Extend(t.Context(), "tag", 10); !errors.Is(err, errFault) {
			t.Fatalf("granted %v, %v", g, err)
		}
		kv.fault = nil
		if g, err := w.Extend(t.Context(), "tag", 10); err != nil || g.First <= 20 {
			t.Errorf("fault %d: granted %v, %v", fate, g, err)
		}
	}
}
