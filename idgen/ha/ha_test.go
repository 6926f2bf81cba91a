package ha

import (
	"context"
	"errors"
	"testing"
	"time"

	"locus/idgen"
)

// inner counts and does what it is told.
type inner struct {
	n, calls uint64
	err      error
	took     func()
}

func (i *inner) Fill(_ context.Context, into []uint64) error {
	i.calls++
	if i.took != nil {
		i.took()
	}
	for k := range into {
		i.n++
		into[k] = i.n
	}
	return i.err
}

type fixture struct {
	now   time.Time
	inner [4]*inner
	*Generator
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{now: time.Unix(1000, 0)}
	var numbers []idgen.Numbers
	for i := range f.inner {
		f.inner[i] = &inner{}
		numbers = append(numbers, f.inner[i])
	}
	var err error
	f.Generator, err = New(Options{Now: func() time.Time { return f.now }}, numbers...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fixture) one(t *testing.T) uint64 {
	t.Helper()
	n, err := idgen.One(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Generators that give the same numbers are told apart by their index.
func TestInTurnAndDistinct(t *testing.T) {
	f := newFixture(t)
	seen := map[uint64]bool{}
	for range 40 {
		n := f.one(t)
		if seen[n] {
			t.Fatalf("%d twice", n)
		}
		seen[n] = true
	}
	for i, in := range f.inner {
		if in.calls != 10 {
			t.Errorf("generator %d was asked %d times of 40", i, in.calls)
		}
	}
}

func TestWhoFailsIsSetAsideAndTriedAgain(t *testing.T) {
	f := newFixture(t)
	f.inner[1].err = errors.New("away")
	for range 20 {
		f.one(t)
	}
	if f.inner[1].calls != 1 {
		t.Errorf("asked %d times while set aside", f.inner[1].calls)
	}
	f.now = f.now.Add(6 * time.Second)
	f.inner[1].err = nil
	for range 4 {
		f.one(t)
	}
	if f.inner[1].calls != 2 {
		t.Errorf("asked %d times: it is not tried again", f.inner[1].calls)
	}
}

func TestWhoIsSlowThreeTimesIsSetAside(t *testing.T) {
	f := newFixture(t)
	f.inner[2].took = func() { f.now = f.now.Add(200 * time.Millisecond) }
	for range 40 {
		f.one(t)
	}
	if f.inner[2].calls != 3 {
		t.Errorf("asked %d times", f.inner[2].calls)
	}
}

func TestWhoIsOutOfRangeIsSetAsideForGood(t *testing.T) {
	f := newFixture(t)
	f.inner[0].n = 1 << 61
	for range 8 {
		f.one(t)
	}
	f.now = f.now.Add(time.Hour)
	for range 8 {
		f.one(t)
	}
	if f.inner[0].calls != 1 {
		t.Errorf("asked %d times", f.inner[0].calls)
	}
	for _, in := range f.inner {
		in.n = 1 << 61
	}
	for range 2 {
		if n, err := idgen.One(t.Context(), f); !errors.Is(err, idgen.ErrOutOfRange) {
			t.Errorf("%d, %v", n, err)
		}
	}
	for _, n := range []int{0, 3, 6} {
		if _, err := New(Options{}, make([]idgen.Numbers, n)...); err == nil {
			t.Errorf("%d generators are taken", n)
		}
	}
}
