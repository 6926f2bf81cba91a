package backend

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// stalePool returns a pool with a lease of one second that allows stale reads.
func stalePool(t *testing.T) (*Pool, *fakeServer) {
	t.Helper()
	p, f, _ := fakePool(t, Limits{})
	to := testTarget
	to.Epoch, to.StaleReads = 4, true
	p.SetTarget(to)
	return p, f
}

func after(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // the test's clock
	synctest.Wait()
}

// The last known primary is read only while there is no lease. Those connections are closed when the lease is
// renewed.
func TestTheLastKnownPrimary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, f := stalePool(t)
		if _, ok := p.LastKnown(); ok {
			t.Error("before etcd was asked for the first time")
		}
		after(confirms)
		if _, ok := p.LastKnown(); !ok {
			t.Error("refused though etcd never answered")
		}
		p.Lease(4, time.Now().Add(time.Second))
		if _, ok := p.LastKnown(); ok {
			t.Error("while the lease runs")
		}
		after(time.Second + time.Millisecond)
		last, ok := p.LastKnown()
		if !ok {
			t.Fatal("refused after the lease")
		}
		kept, idle := borrow(t, last, Default, 0), borrow(t, last, Default, 0)
		last.Return(idle)
		if again := borrow(t, last, Default, 0); again != idle {
			t.Error("its connections are not kept")
		} else {
			last.Return(again)
		}
		after(time.Minute)
		if _, err := kept.Exec(t.Context(), "DO 1"); err != nil {
			t.Errorf("a read ended: %v", err)
		}
		p.Lease(4, time.Now().Add(time.Second))
		if s := last.Stats(); s.Idle != 0 || s.Lent != 1 {
			t.Errorf("after the renewal: %+v", s)
		}
		if last.Return(kept); last.Stats().Open != 0 {
			t.Error("a connection outlives the renewal")
		}
		if n := len(f.loggedIn()); n != 2 {
			t.Errorf("%d logins", n)
		}
	})
}

// A pool of another primary is asked there, one whose target does not allow it any more is not.
func TestTheLastKnownPrimaryFollowsTheTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := stalePool(t)
		p.Lease(4, time.Now().Add(time.Second))
		after(2 * time.Second)
		to := testTarget
		to.Epoch, to.StaleReads, to.Addr = 5, true, "elsewhere:3306"
		p.SetTarget(to)
		if _, ok := p.LastKnown(); ok {
			t.Error("a server that has just become the primary")
		}
		after(confirms)
		last, ok := p.LastKnown()
		if !ok {
			t.Fatal("refused")
		}
		if c := borrow(t, last, Default, 0); c.Addr() != "elsewhere:3306" {
			t.Errorf("reads of %s", c.Addr())
		} else {
			last.Return(c)
		}
		to.StaleReads = false
		p.SetTarget(to)
		if _, ok := p.LastKnown(); ok || last.Stats().Open != 0 {
			t.Error("the target does not allow it any more")
		}
		to.StaleReads = true
		p.SetTarget(to)
		p.Retire()
		if _, ok := p.LastKnown(); ok {
			t.Error("a pool that is closed")
		}
	})
}

// Other reads are refused as before. The error names the limits of the allowed stale reads.
func TestStaleReadsAreOffByDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := leasedPool(t)
		after(time.Minute)
		if _, ok := p.LastKnown(); ok {
			t.Error("stale reads without the option")
		}
		_, err := p.BorrowSoon(t.Context(), Default, 0)
		if err == nil || !strings.Contains(err.Error(), "cut off from etcd") || strings.Contains(err.Error(), "stale_reads") {
			t.Error(err)
		}
		p, _ = stalePool(t)
		after(time.Minute)
		for _, borrow := range []func() error{
			func() error { _, err := p.BorrowSoon(t.Context(), Default, 0); return err },
			func() error { _, err := p.Borrow(t.Context(), Default, 0); return err },
		} {
			if err := borrow(); err == nil || !strings.Contains(err.Error(), "with stale_reads, a plain SELECT outside of a transaction goes on, and nothing else") {
				t.Error(err)
			}
		}
	})
}
