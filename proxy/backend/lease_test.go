package backend

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// leasedPool returns a pool with a lease of one second. Its target's primary may change without notice to the
// process.
func leasedPool(t *testing.T) (*Pool, *fakeServer) {
	t.Helper()
	p, f, _ := fakePool(t, Limits{})
	to := testTarget
	to.Epoch = 4
	p.SetTarget(to)
	if !p.Lease(4, time.Now().Add(time.Second)) {
		t.Fatal("no lease of its own epoch")
	}
	return p, f
}

// When its lease has expired, the pool lends nothing and closes the lent connections. Borrowers wait for the next lease.
func TestAPoolLendsForItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, f := leasedPool(t)
		kept, idle := borrow(t, p, Default, 0), borrow(t, p, Default, 0)
		p.Return(idle)
		if _, err := kept.Exec(t.Context(), "DO 1"); err != nil {
			t.Fatal(err)
		}
		if p.Lease(5, time.Now().Add(time.Hour)) {
			t.Error("leased for an epoch that it does not go by")
		}
		time.Sleep(time.Second + time.Millisecond) //nolint:forbidigo // the test's clock
		synctest.Wait()
		if _, err := kept.Exec(t.Context(), "DO 2"); !errors.Is(err, errUnleased) {
			t.Errorf("after the lease: %v", err)
		}
		p.Discard(kept)
		got := make(chan *Conn)
		go func() {
			c, _ := p.Borrow(t.Context(), Default, 0)
			got <- c
		}()
		synctest.Wait()
		if s := p.Stats(); s.Waiting != 1 || s.Idle != 0 {
			t.Errorf("%+v", s)
		}
		p.Lease(4, time.Now().Add(time.Second))
		if c := <-got; c == nil || c == idle || len(f.loggedIn()) != 3 {
			t.Errorf("after %d logins: %v", len(f.loggedIn()), c)
		} else {
			p.Return(c)
		}
	})
}

// The end of the lease ends a wait for an answer.
func TestTheEndOfALeaseEndsWhatWaits(t *testing.T) {
	p, _ := leasedPool(t)
	c := borrow(t, p, Default, 0)
	waits := make(chan error)
	go func() { waits <- c.Stream().Fill() }() // waits for an answer that never comes
	p.mu.Lock()
	p.term.Lift()
	p.term.Extend(time.Now().Add(20 * time.Millisecond))
	p.watchTerm()
	p.mu.Unlock()
	if err := <-waits; !errors.Is(c.Lost(true, err), errUnleased) {
		t.Error(err)
	}
	p.Discard(c)
}

// A process that was suspended when its lease expired must not use any answer, even one that the server sent in
// time: the timer that closes its connections may not have run yet.
func TestAnAnswerAfterTheLeaseCountsForNothing(t *testing.T) {
	p, _ := leasedPool(t)
	c := borrow(t, p, Default, 0)
	if err := c.Send([]byte{5, 0, 0, 0, 3, 'D', 'O', ' ', '1'}, Nothing); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-time.Millisecond)
	c.term.Lift()
	c.term.Extend(past) // before the timer has fired
	if err := c.Stream().Fill(); !errors.Is(c.Lost(true, err), errUnleased) || len(c.Stream().Unread()) > 0 {
		t.Errorf("the answer was read: %v", err)
	}
	if err := c.Send([]byte{5, 0, 0, 0, 3, 'D', 'O', ' ', '1'}, Nothing); !errors.Is(err, errUnleased) {
		t.Errorf("sent: %v", err)
	}
	p.Discard(c)
}

// Connections to the server of before stay without a lease whatever is leased later.
func TestALeaseIsOfOneServer(t *testing.T) {
	p, _ := leasedPool(t)
	before := borrow(t, p, Default, 0)
	to := testTarget
	to.Epoch, to.Addr = 6, "elsewhere:3306"
	p.SetTarget(to)
	p.Lease(6, time.Now().Add(time.Hour))
	if _, err := before.Exec(t.Context(), "DO 1"); !errors.Is(err, errLeft) {
		t.Errorf("at the server of before: %v", err)
	}
	p.Discard(before)
	now := borrow(t, p, Default, 0)
	if _, err := now.Exec(t.Context(), "DO 1"); err != nil {
		t.Error(err)
	}
	to.Epoch = 0
	p.SetTarget(to)
	if _, err := now.Exec(t.Context(), "DO 1"); err != nil || p.Lease(6, time.Now()) {
		t.Errorf("without leases: %v", err)
	}
	p.Return(now)
}

// A hold that cuts off waits for nothing, and lends nothing that was on its way.
func TestAHoldThatCutsOff(t *testing.T) {
	p, f, _ := fakePool(t, Limits{})
	lent := borrow(t, p, Default, 0)
	gate := make(chan struct{})
	f.set(nil, gate)
	got := make(chan *Conn)
	go func() {
		c, _ := p.Borrow(t.Context(), Default, 0)
		got <- c
	}()
	eventually(t, "a login is under way", func() bool { return len(f.loggedIn()) == 2 })
	to := testTarget
	to.Held, to.Cut = true, true
	if p.SetTarget(to); !p.Emptied() {
		t.Error("something is waited for")
	}
	if _, err := lent.Exec(t.Context(), "DO 1"); !errors.Is(err, errLeft) {
		t.Errorf("at a server that is left: %v", err)
	}
	p.Discard(lent)
	gate <- struct{}{}
	eventually(t, "it was not lent", func() bool { return p.Stats().Waiting == 1 })
	f.set(nil, nil)
	to.Held, to.Cut, to.Addr = false, false, "elsewhere:3306"
	p.SetTarget(to)
	c := <-got
	if list := f.loggedIn(); c == nil || list[len(list)-1] != to.Addr {
		t.Errorf("lent is %v, logins were %v", c, list)
	}
	p.Return(c)
}
