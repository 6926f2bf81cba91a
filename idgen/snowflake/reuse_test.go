package snowflake

import (
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locus/idgen"
)

// A process that is stopped returns its number, and the next process of its address gets it, with its own
// directory. The number of a crashed process is free when its claim ends.
func TestReuseByAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c clock
		store := newKV()
		start := func(address string) process {
			t.Helper()
			p, err := openWith(t, store, t.TempDir(), &c, Options{Last: 2, Address: address, Claim: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		want := func(p process, worker int, why string) {
			t.Helper()
			if got := p.Worker.Worker(); got != worker {
				t.Errorf("%s: worker %d, want %d", why, got, worker)
			}
		}
		stop := func(p process, how func() error) {
			t.Helper()
			if err := how(); err != nil {
				t.Fatal(err)
			}
		}
		a, b := start("a:1"), start("b:1")
		want(a, 0, "the first")
		want(b, 1, "the second")
		last, err := idgen.One(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		stop(b, b.Close)
		if n, err := idgen.One(t.Context(), b); err == nil && n>>22 > last>>22+ahead {
			t.Errorf("%d after the number was given back", n)
		}
		stop(a, a.Close)
		began := time.Now()
		b = start("b:1")
		want(b, 1, "the second, again")
		if waited := time.Since(began); waited > 5*time.Second {
			t.Errorf("it waited %s for its own number", waited)
		}
		if next, err := idgen.One(t.Context(), b); err != nil || next <= last {
			t.Errorf("%d after %d, %v", next, last, err)
		}
		stop(b, b.crash)
		other := start("b:1")
		want(other, 0, "its claim has not ended")
		time.Sleep(time.Minute) // virtual
		third := start("c:1")
		want(third, 1, "its claim has ended")
		stop(other, other.Close)
		stop(third, third.Close)

		store.away = true
		if _, err := openWith(t, store, t.TempDir(), &c, Options{Address: "a:1"}); !errors.Is(err, errAway) {
			t.Errorf("a start without the store: %v", err)
		}
	})
}

// A number that was set by hand is used by one process at a time. Another one gets an error that names the first.
func TestANumberByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c clock
		store := newKV()
		hand := func(address string) Options {
			return Options{First: 0, Last: 0, One: true, Address: address, Claim: time.Minute}
		}
		p, err := openWith(t, store, t.TempDir(), &c, hand("a:1"))
		if err != nil || p.Worker.Worker() != 0 {
			t.Fatal(err)
		}
		if _, err := openWith(t, store, t.TempDir(), &c, hand("b:1")); err == nil || !strings.Contains(err.Error(), "worker 0 is claimed until 2030-01-01T00:01:00Z by a:1") {
			t.Errorf("a second process: %v", err)
		}
		if err := p.crash(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(56 * time.Second) // virtual time: waits for the rest of the claim
		p, err = openWith(t, store, t.TempDir(), &c, hand("b:1"))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		for _, o := range []Options{{First: 5, Last: 4}, {Last: 1024}, {First: -1}, {Claim: time.Second}, {Claim: 1000 * time.Hour}} {
			if _, err := openWith(t, store, t.TempDir(), &c, o); err == nil {
				t.Errorf("%+v is accepted", o)
			}
		}
	})
}

// A directory's number outside of the range is not used.
func TestTheRangeOfWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c clock
		store, dir := newKV(), t.TempDir()
		for _, o := range []Options{{}, {First: 512, Last: 1023}, {First: 7, Last: 7}} {
			p, err := openWith(t, store, dir, &c, o)
			if err != nil {
				t.Fatal(err)
			}
			if p.Worker.Worker() != o.First {
				t.Errorf("worker %d of %+v", p.Worker.Worker(), o)
			}
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Numbers of another epoch count milliseconds from there, and share the sequence.
func TestEpochs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c clock
		p, err := openWith(t, newKV(), t.TempDir(), &c, Options{First: 7, Last: 7})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		leaf := time.UnixMilli(1288834974657)
		seen := map[int]bool{}
		for _, start := range []time.Time{Epoch(), leaf, time.Unix(0, 0), time.Date(2029, 5, 1, 0, 0, 0, 0, time.UTC)} {
			n, err := idgen.One(t.Context(), p.Since(start))
			if err != nil {
				t.Fatal(err)
			}
			at, worker, sequence := Parts(n, start)
			if worker != 7 || !at.Equal(c.now().Truncate(time.Millisecond)) || seen[sequence] {
				t.Errorf("since %s: %s, worker %d, sequence %d", start, at, worker, sequence)
			}
			seen[sequence] = true
		}
		if n, err := idgen.One(t.Context(), p.Since(c.now().Add(time.Hour))); !errors.Is(err, ErrClock) {
			t.Errorf("before its epoch: %d, %v", n, err)
		}
		c.set(30 * 365 * 24 * time.Hour) // 2060, and the milliseconds since 1970 end in 2039
		if n, err := idgen.One(t.Context(), p.Since(time.Unix(0, 0))); !errors.Is(err, idgen.ErrOutOfRange) {
			t.Errorf("past its last millisecond: %d, %v", n, err)
		}
		if left := p.Since(leaf).Left(); left < 0.28 || left > 0.3 { // 69.7 years from 2010 on
			t.Errorf("%v of the milliseconds are left", left)
		}
	})
}

// The next process with a number starts above all times that the last one may have used, even if its clock is
// behind, or goes back at once.
func TestTheNextProcessBeginsAboveTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fast, slow clock
		fast.set(2 * time.Second)
		store := newKV()
		o := Options{First: 1, Last: 1, Address: "a:1"}
		p, err := openWith(t, store, t.TempDir(), &fast, o)
		if err != nil {
			t.Fatal(err)
		}
		last, err := idgen.One(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if p, err := openWith(t, store, t.TempDir(), &slow, o); err == nil {
			t.Errorf("worker %d is free, 6 s before its last time", p.Worker.Worker())
		}
		time.Sleep(3 * time.Second) // virtual
		p, err = openWith(t, store, t.TempDir(), &slow, o)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		slow.set(-4 * time.Second)
		if n, err := idgen.One(t.Context(), p); !errors.Is(err, ErrClock) {
			t.Errorf("%d after %d with a clock that went back, %v", n, last, err)
		}
		slow.set(0)
		if n, err := idgen.One(t.Context(), p); err != nil || n <= last {
			t.Errorf("%d after %d, %v", n, last, err)
		}
	})
}

// A copied directory does not give a process the number of another running one.
func TestACopiedDirectory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c clock
		store, dir, copied := newKV(), t.TempDir(), t.TempDir()
		p, err := openWith(t, store, dir, &c, Options{Address: "a:1"})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if _, err := idgen.One(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		other, err := openWith(t, store, copied, &c, Options{Address: "a:1"})
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		if p.Worker.Worker() == other.Worker.Worker() {
			t.Error("two processes have one number")
		}
	})
}
