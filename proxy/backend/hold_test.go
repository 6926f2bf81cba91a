package backend

import (
	"errors"
	"testing"
)

// A held pool closes the connections that are returned. Borrowers wait, and then get a connection to the
// shard's new server.
func TestAHeldPoolLendsNothing(t *testing.T) {
	p, f, _ := fakePool(t, Limits{})
	lent, idle := borrow(t, p, Default, 0), borrow(t, p, Default, 0)
	p.Return(idle)
	to := testTarget
	to.Held = true
	if p.SetTarget(to); p.Emptied() {
		t.Error("a connection is lent, and nothing is said to go on")
	}
	got := make(chan *Conn)
	go func() {
		c, _ := p.Borrow(t.Context(), Default, 0)
		got <- c
	}()
	eventually(t, "a borrower waits", func() bool { return p.Stats().Waiting == 1 })
	if p.Return(lent); !p.Emptied() || p.Stats().Waiting != 1 {
		t.Errorf("emptied: %v, %+v", p.Emptied(), p.Stats())
	}
	to.Held, to.Addr = false, "elsewhere:3306"
	p.SetTarget(to)
	c := <-got
	if c == nil || c == lent || c == idle || len(f.loggedIn()) != 3 || p.Emptied() {
		t.Errorf("lent is %v, after %d logins", c, len(f.loggedIn()))
	}
	p.Return(c)
}

// A borrower that keeps its connection can't send anything more over it.
func TestAHeldPoolCutsOff(t *testing.T) {
	p, _, _ := fakePool(t, Limits{})
	kept := borrow(t, p, Default, 0)
	why := errors.New("held")
	if p.CutOff(why); !kept.Usable() {
		t.Error("cut off without a hold")
	}
	to := testTarget
	to.Held = true
	p.SetTarget(to)
	p.CutOff(why)
	if _, err := kept.Exec(t.Context(), "DO 0"); !errors.Is(err, why) || !p.Emptied() {
		t.Errorf("%v, emptied: %v", err, p.Emptied())
	}
	p.Discard(kept)
}
