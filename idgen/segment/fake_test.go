package segment

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"locus/idgen/orderid"
)

// fakeKV is a KV in memory that fails on demand.
type fakeKV struct {
	mu       sync.Mutex
	revision int64
	values   map[string]fakeValue
	late     []func() // writes that take effect after their callers got an error

	// fault decides the fate of a call; nil is no fault. mu is held.
	fault func(op string) fault
}

type fakeValue struct {
	text     []byte
	revision int64
}

type fault int

const (
	noFault    fault = iota
	failBefore       // an error, and nothing happened
	failAfter        // an error, and it happened
	failLate         // an error, and it happens during a later call, if it still can
)

var errFault = errors.New("connection lost")

func newFakeKV() *fakeKV { return &fakeKV{values: map[string]fakeValue{}} }

func (f *fakeKV) decide(op string) fault {
	if f.fault == nil {
		return noFault
	}
	return f.fault(op)
}

func (f *fakeKV) Get(_ context.Context, key string) ([]byte, int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.decide("get") != noFault {
		return nil, 0, errFault
	}
	v := f.values[key]
	f.arrive()
	return v.text, v.revision, nil
}

func (f *fakeKV) CompareAndSwap(_ context.Context, key string, revision int64, value []byte) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fate := f.decide("swap")
	if fate == failBefore {
		return false, errFault
	}
	if fate == failLate {
		f.late = append(f.late, func() { f.swap(key, revision, value) })
		return false, errFault
	}
	ok := f.swap(key, revision, value)
	f.arrive()
	if fate == failAfter {
		return false, errFault
	}
	return ok, nil
}

func (f *fakeKV) swap(key string, revision int64, value []byte) bool {
	if f.values[key].revision != revision {
		return false
	}
	f.revision++
	f.values[key] = fakeValue{value, f.revision}
	return true
}

// arrive executes late writes now and then. The caller holds mu.
func (f *fakeKV) arrive() {
	if len(f.late) > 0 && rand.N(2) == 0 {
		f.late[0]()
		f.late = f.late[1:]
	}
}

// put simulates an operator's edit.
func (f *fakeKV) put(key, value string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.revision++
	f.values[key] = fakeValue{[]byte(value), f.revision}
}

func (f *fakeKV) text(key string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return string(f.values[key].text)
}

// granting is a Store without faults. It first calls before, if that is not nil, which may wait, or fail the
// call.
type granting struct {
	mu     sync.Mutex
	bound  map[string]uint64
	calls  int
	before func(ctx context.Context, n uint64) error
}

func (g *granting) Extend(ctx context.Context, counter string, n uint64) (Grant, error) {
	if g.before != nil {
		if err := g.before(ctx, n); err != nil {
			return Grant{}, err
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.bound == nil {
		g.bound = map[string]uint64{}
	}
	g.calls++
	first := g.bound[counter] + 1
	g.bound[counter] += n
	return Grant{first, g.bound[counter]}, nil
}

func (g *granting) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.calls
}

func layoutNamed(t testing.TB, name string) orderid.Layout {
	t.Helper()
	l, err := orderid.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// open returns Segments of layout int64, which are closed when the test ends.
func open(t testing.TB, store Store, o Options) *Segments {
	t.Helper()
	s, err := New(store, layoutNamed(t, "int64"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func take(t testing.TB, s *Segments, n int) uint64 {
	t.Helper()
	first, err := s.Take(context.Background(), 0, n)
	if err != nil {
		t.Fatal(err)
	}
	return first
}
