package segment

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// hasty makes a store retry without pauses.
func hasty(s *CASStore) *CASStore {
	s.pause = 0
	return s
}

func extend(t *testing.T, s *CASStore, n uint64, want Grant) {
	t.Helper()
	got, err := s.Extend(context.Background(), "g/00012", n)
	if err != nil || got != want {
		t.Fatalf("%v, %v, want %v", got, err, want)
	}
}

func TestCASStore(t *testing.T) {
	kv := newFakeKV()
	one, two := NewCASStore(kv, "/ids/", "one", noon), NewCASStore(kv, "/ids/", "two", noon)
	extend(t, one, 10, Grant{1, 10})
	extend(t, two, 5, Grant{11, 15})
	extend(t, one, 1, Grant{16, 16})
	want := `{"bound":16,"by":"one","at":"2026-03-01T12:00:00Z"}`
	if got := kv.text("/ids/g/00012"); got != want {
		t.Error(got)
	}
}

func TestUnknownOutcomesAreLost(t *testing.T) {
	for _, v := range []struct {
		fault fault
		next  Grant
	}{
		{failBefore, Grant{11, 20}},
		{failAfter, Grant{11 + attempts*10, 20 + attempts*10}}, // the grants of all attempts are lost
	} {
		kv := newFakeKV()
		s := hasty(NewCASStore(kv, "/ids/", "p", noon))
		extend(t, s, 10, Grant{1, 10})
		kv.fault = func(op string) fault {
			if op == "swap" {
				return v.fault
			}
			return noFault
		}
		if g, err := s.Extend(context.Background(), "g/00012", 10); !errors.Is(err, errFault) || g != (Grant{}) {
			t.Errorf("%v, %v", g, err)
		}
		kv.fault = nil
		extend(t, s, 10, v.next)
	}
}

// A single lost answer does not fail the call. The caller gets numbers after those that may have been granted.
func TestAStoreIsAskedAgain(t *testing.T) {
	for _, v := range []struct {
		op    string
		fault fault
		want  Grant
	}{{"get", failBefore, Grant{11, 20}}, {"swap", failBefore, Grant{11, 20}}, {"swap", failAfter, Grant{21, 30}}} {
		kv := newFakeKV()
		s := NewCASStore(kv, "/ids/", "p", noon)
		extend(t, s, 10, Grant{1, 10})
		first := true
		kv.fault = func(op string) fault {
			if op == v.op && first {
				first = false
				return v.fault
			}
			return noFault
		}
		extend(t, s, 10, v.want)
	}
}

// The leading node goes down. For a while no request is answered, or only with errors.
func TestANewLeaderIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newFakeKV()
		elected := time.Now().Add(2 * time.Second)
		kv.fault = func(string) fault {
			if time.Now().Before(elected) {
				return failBefore
			}
			return noFault
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err := NewCASStore(kv, "/ids/", "p", noon).Extend(ctx, "g/00012", 10); err != nil {
			t.Error(err)
		}
	})
}

// Another process extends between the read and the swap.
func TestCollision(t *testing.T) {
	kv := newFakeKV()
	collisions := 3
	kv.fault = func(op string) fault {
		if op == "swap" && collisions > 0 {
			collisions--
			bound := record{Bound: uint64(100 * (3 - collisions)), By: "other", At: noon()}
			kv.revision++
			kv.values["/ids/g/00012"] = fakeValue{encode(bound), kv.revision}
		}
		return noFault
	}
	extend(t, NewCASStore(kv, "/ids/", "p", noon), 10, Grant{301, 310})
}

func TestCASStoreRefuses(t *testing.T) {
	const key = "/ids/g/00012"
	for name, v := range map[string]struct{ value, want string }{
		"went back": {
			`{"bound":9,"by":"p","at":"2026-03-01T12:00:00Z"}`,
			"extend /ids/g/00012 by 10: the counter went back: the store says 9, this process has seen 10: the store has lost grants, " +
				"as a restored backup does; write a bound above every number in use into the key",
		},
		"not JSON": {
			"12",
			`extend /ids/g/00012 by 10: value "12" was not written by this version: json: cannot unmarshal number into Go value of type segment.record`,
		},
		"a field of a later version": {
			`{"bound":99,"reserve":7}`,
			`extend /ids/g/00012 by 10: value "{\"bound\":99,\"reserve\":7}" was not written by this version: json: unknown field "reserve"`,
		},
		"no bound": {
			`{}`,
			`extend /ids/g/00012 by 10: value "{}" has no bound: restore the value, or write a bound above every number in use`,
		},
		"two values": {
			`{"bound":99} {"bound":100}`,
			`extend /ids/g/00012 by 10: value "{\"bound\":99} {\"bound\":100}" was not written by this version: text after the value`,
		},
		"the end of numbers": {
			`{"bound":18446744073709551610}`,
			"extend /ids/g/00012 by 10: no numbers are left: it is granted up to 18446744073709551610, and numbers end at 18446744073709551615",
		},
	} {
		kv := newFakeKV()
		s := NewCASStore(kv, "/ids/", "p", noon)
		extend(t, s, 10, Grant{1, 10})
		kv.put(key, v.value)
		if g, err := s.Extend(context.Background(), "g/00012", 10); err == nil || err.Error() != v.want {
			t.Errorf("%s:\n got %v, %v\nwant %s", name, g, err, v.want)
		}
		if kv.text(key) != v.value {
			t.Errorf("%s: the value was changed to %s", name, kv.text(key))
		}
	}
	if _, err := NewCASStore(newFakeKV(), "", "p", noon).Extend(context.Background(), "c", 0); err == nil {
		t.Error("0 numbers were granted")
	}
	if _, err := NewCASStore(newFakeKV(), "", "p", noon).Extend(context.Background(), "c", math.MaxUint64); err != nil {
		t.Error(err)
	}
}

// A bound that this process has only read counts as much as one that it has written.
func TestWentBackBehindAnotherProcess(t *testing.T) {
	kv := newFakeKV()
	kv.put("/ids/g/00012", `{"bound":100}`)
	kv.fault = func(op string) fault {
		if op == "swap" {
			return failBefore
		}
		return noFault
	}
	s := hasty(NewCASStore(kv, "/ids/", "p", noon))
	if _, err := s.Extend(context.Background(), "g/00012", 10); !errors.Is(err, errFault) {
		t.Fatal(err)
	}
	kv.fault = nil
	kv.put("/ids/g/00012", `{"bound":50}`)
	if g, err := s.Extend(context.Background(), "g/00012", 10); !errors.Is(err, ErrWentBack) {
		t.Errorf("%v, %v", g, err)
	}
}

// A deleted key is a counter that went back to nothing.
func TestDeletedCounter(t *testing.T) {
	kv := newFakeKV()
	s := NewCASStore(kv, "/ids/", "p", noon)
	extend(t, s, 10, Grant{1, 10})
	delete(kv.values, "/ids/g/00012")
	if g, err := s.Extend(context.Background(), "g/00012", 10); !errors.Is(err, ErrWentBack) {
		t.Errorf("%v, %v", g, err)
	}
	kv.put("/ids/g/00012", `{"bound":1000}`)
	extend(t, s, 10, Grant{1001, 1010})
}

func TestPinGroups(t *testing.T) {
	kv := newFakeKV()
	s := NewCASStore(kv, "/ids/", "p", noon)
	for range 2 {
		if err := s.PinGroups(context.Background(), 256); err != nil {
			t.Fatal(err)
		}
	}
	if got := kv.text("/ids/groups"); got != `{"groups":256,"by":"p","at":"2026-03-01T12:00:00Z"}` {
		t.Error(got)
	}
	err := s.PinGroups(context.Background(), 512)
	want := "pin 512 counter groups: this cluster has 256 since 2026-03-01 12:00:00Z, and with another number IDs would repeat: configure 256"
	if err == nil || err.Error() != want {
		t.Error(err)
	}
	kv.put("/ids/groups", "256 groups")
	if err := s.PinGroups(context.Background(), 256); err == nil {
		t.Error("a value that is not ours was accepted")
	}

	// Two processes pin at the same time: one of them loses the race.
	kv = newFakeKV()
	kv.fault = func(op string) fault {
		if op == "swap" {
			kv.fault = nil
			kv.revision++
			kv.values["/ids/groups"] = fakeValue{[]byte(`{"groups":128}`), kv.revision}
		}
		return noFault
	}
	if err := NewCASStore(kv, "/ids/", "p", noon).PinGroups(context.Background(), 256); err == nil {
		t.Error("both were pinned")
	}
}

// The first recorded effect of a key version on IDs can't be changed.
func TestPinVersion(t *testing.T) {
	kv := newFakeKV()
	s := NewCASStore(kv, "/ids/", "p", noon)
	for range 2 {
		for version, does := range map[uint32]string{1: "in clear", 2: "hidden by key 17"} {
			if err := s.PinVersion(t.Context(), version, does); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := kv.text("/ids/keys/00002"); got != `{"does":"hidden by key 17","by":"p","at":"2026-03-01T12:00:00Z"}` {
		t.Error(got)
	}
	for version, does := range map[uint32]string{1: "hidden by key 17", 2: "hidden by key 18"} {
		err := NewCASStore(kv, "/ids/", "other", noon).PinVersion(t.Context(), version, does)
		if err == nil || !strings.Contains(err.Error(), "since 2026-03-01 12:00:00Z, and are now to be "+does) || !strings.Contains(err.Error(), "no ID was issued") {
			t.Error(err)
		}
	}
	kv.put("/ids/keys/00003", "clear")
	if err := s.PinVersion(t.Context(), 3, "in clear"); err == nil {
		t.Error("a value that is not ours was accepted")
	}
}

// Two processes that raise a counter at the same moment don't add up.
func TestRaisedAtOnce(t *testing.T) {
	kv := newFakeKV()
	one, other := NewCASStore(kv, "/ids/", "one", time.Now), NewCASStore(kv, "/ids/", "other", time.Now)
	meanwhile := false
	kv.fault = func(op string) fault {
		if op == "swap" && !meanwhile {
			meanwhile = true
			kv.mu.Unlock()
			defer kv.mu.Lock()
			if _, err := other.Raise(t.Context(), "g", 200); err != nil {
				t.Error(err)
			}
		}
		return noFault
	}
	for _, c := range []struct{ above, bound uint64 }{{300, 300}, {250, 300}, {0, 300}} {
		if bound, err := one.Raise(t.Context(), "g", c.above); bound != c.bound || err != nil {
			t.Errorf("raised to %d: granted up to %d (%v), want %d", c.above, bound, err, c.bound)
		}
	}
	if g, err := other.Extend(t.Context(), "g", 1); g != (Grant{301, 301}) || err != nil || !meanwhile {
		t.Errorf("next: %v, %v", g, err)
	}
}

// A raise whose outcome is unknown is tried again, and ends where it should.
func TestRaisedThroughFaults(t *testing.T) {
	kv := newFakeKV()
	s := NewCASStore(kv, "/ids/", "one", time.Now)
	s.pause = time.Microsecond
	faults := []fault{failBefore, noFault, failAfter, noFault}
	kv.fault = func(string) fault {
		if len(faults) == 0 {
			return noFault
		}
		f := faults[0]
		faults = faults[1:]
		return f
	}
	if bound, err := s.Raise(t.Context(), "g", 300); bound != 300 || err != nil {
		t.Errorf("granted up to %d (%v)", bound, err)
	}
}
