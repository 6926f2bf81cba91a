package backend

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestBorrowPrefersWhatCarriesTheSettings(t *testing.T) {
	p, f, _ := fakePool(t, Limits{})
	shop, ansi := Default.WithDatabase("shop"), Default.WithDatabase("shop").With("sql_mode", "'ANSI'")
	a, b, d := borrow(t, p, shop, 0), borrow(t, p, ansi, 0), borrow(t, p, shop, 0)
	p.Return(a)
	p.Return(d)
	p.Return(b)
	f.take()
	if c := borrow(t, p, shop, 0); c != d {
		t.Errorf("lent connection %d, want %d, the last used of those with these settings", c.threadID, d.threadID)
	}
	if c := borrow(t, p, ansi, 0); c != b {
		t.Errorf("lent connection %d, want %d", c.threadID, b.threadID)
	}
	if sent := f.take(); len(sent) > 0 {
		t.Errorf("sent %q to connections that carry the settings already", sent)
	}
	c := borrow(t, p, ansi, 0)
	if c != a || len(f.loggedIn()) != 3 {
		t.Error("dialed although one was idle")
	}
	for _, c := range []*Conn{a, b, d} {
		p.Return(c)
	}
}

// Settings that others use stay on the connections used last; fresh connections go before that.
func TestTheColdestIsBroughtOver(t *testing.T) {
	p, _, _ := fakePool(t, Limits{})
	a, b, fresh := borrow(t, p, Default.With("@a", "1"), 0), borrow(t, p, Default.With("@b", "1"), 0), borrow(t, p, Default, 0)
	p.Return(a)
	p.Return(fresh)
	p.Return(b)
	for _, want := range []*Conn{fresh, a, b} {
		if c := borrow(t, p, Default.With("@c", "1"), 0); c != want {
			t.Errorf("lent connection %d, want %d", c.threadID, want.threadID)
		}
	}
	for _, c := range []*Conn{a, b, fresh} {
		p.Return(c)
	}
}

func TestStateIsBroughtOver(t *testing.T) {
	p, f, _ := fakePool(t, Limits{MaxOpen: 1})
	shop := Default.WithDatabase("shop")
	for _, step := range []struct {
		want *Settings
		sent []string
	}{
		{Default, []string{"COM_QUERY SET NAMES utf8mb4"}},
		{shop, []string{"COM_INIT_DB shop"}},
		{shop.With("@x", "1").With("autocommit", "0"), []string{"COM_QUERY SET @x=1, autocommit=0"}},
		{shop.With("@x", "1").With("autocommit", "0"), nil},
		{shop.With("autocommit", "1"), []string{"COM_RESET_CONNECTION ", "COM_INIT_DB information_schema", "COM_INIT_DB shop", "COM_QUERY SET NAMES utf8mb4, autocommit=1"}},
		{Default.WithDatabase("other").With("autocommit", "1"), []string{"COM_INIT_DB other"}},
	} {
		p.Return(borrow(t, p, step.want, 0))
		if sent := f.take(); !slices.Equal(sent, step.sent) {
			t.Errorf("for %v sent %q, want %q", step.want, sent, step.sent)
		}
	}
	c := borrow(t, p, Default, 0) // no command leaves a database, so another connection takes the place
	if c.threadID != 2 {
		t.Error("a connection with a database was lent as one without")
	}
	p.Return(c)
}

func TestNoSettingsAreTheDefault(t *testing.T) {
	p, f, _ := fakePool(t, Limits{})
	p.Return(borrow(t, p, Default.With("a", "1"), 0))
	f.take()
	c, err := p.Borrow(t.Context(), nil, 0)
	if err != nil || c.Settings() != Default || len(f.take()) != 2 {
		t.Errorf("%v, %v: want a reset connection", c, err)
	}
	p.Return(c)
}

func TestRefusedSettingsLeaveACleanConnection(t *testing.T) {
	p, f, _ := fakePool(t, Limits{MaxOpen: 1})
	p.Return(borrow(t, p, Default.WithDatabase("shop").With("a", "1"), 0))
	f.take()
	_, err := p.Borrow(t.Context(), Default.WithDatabase("nosuch").With("a", "1").With("b", "2"), 0)
	if e, ok := errors.AsType[*ServerError](err); !ok || e.Code != 1049 {
		t.Fatalf("error %v, want the server's 1049", err)
	}
	f.take()
	p.Return(borrow(t, p, Default.WithDatabase("shop").With("b", "2"), 0))
	if sent, want := f.take(), []string{"COM_RESET_CONNECTION ", "COM_INIT_DB information_schema", "COM_INIT_DB shop", "COM_QUERY SET NAMES utf8mb4, b=2"}; !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
	if n := len(f.loggedIn()); n != 1 {
		t.Errorf("%d logins, want 1: an unknown database costs no connection", n)
	}
}

func TestProfilesShareTheLimit(t *testing.T) {
	p, f, _ := fakePool(t, Limits{MaxOpen: 2})
	a, b := borrow(t, p, Default, 0), borrow(t, p, Default, 0)
	p.Return(a)
	p.Return(b)
	c := borrow(t, p, Default, FoundRows)
	if c.Profile() != FoundRows || c.threadID != 3 {
		t.Errorf("lent connection %d of profile %v", c.threadID, c.Profile())
	}
	if d := borrow(t, p, Default, 0); d != b {
		t.Errorf("lent connection %d; the one closed to make room should have been the coldest", d.threadID)
	}
	p.Return(c)
	p.Return(b)
	if f.mostOpen > 3 { // the server may still count the connection that is being closed
		t.Errorf("%d connections at once", f.mostOpen)
	}
}

func TestTheQueueIsFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _, _ := fakePool(t, Limits{MaxOpen: 1})
		held := borrow(t, p, Default, 0)
		served := make(chan int, 3)
		var sessions sync.WaitGroup
		for i := range 3 {
			sessions.Go(func() {
				c := borrow(t, p, Default.With("@session", Quote("x")), 0)
				served <- i
				<-time.After(time.Second)
				p.Return(c)
			})
			synctest.Wait()
		}
		if n := p.Stats().Waiting; n != 3 {
			t.Errorf("%d wait, want 3", n)
		}
		p.Return(held)
		for want := range 3 {
			if got := <-served; got != want {
				t.Errorf("number %d was served, want %d", got, want)
			}
		}
		sessions.Wait()
	})
}

func TestTheQueueHasATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _, _ := fakePool(t, Limits{MaxOpen: 1, WaitTimeout: 3 * time.Second})
		held := borrow(t, p, Default, 0)
		began := time.Now()
		_, err := p.Borrow(t.Context(), Default, 0)
		e, ok := errors.AsType[*ExhaustedError](err)
		if !ok || e.Shard != "s7" || e.Limit != 1 || time.Since(began) != 3*time.Second || !NotSent(err) {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := p.Borrow(ctx, Default, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the context's end: %v", err)
		}
		if n := p.Stats().Waiting; n != 0 {
			t.Errorf("%d are left in the queue", n)
		}
		p.Return(held)
	})
}

func TestTheQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _, _ := fakePool(t, Limits{MaxOpen: 1, MaxWaiting: 1})
		held := borrow(t, p, Default, 0)
		go func() { p.Return(borrow(t, p, Default, 0)) }()
		synctest.Wait()
		if _, err := p.Borrow(t.Context(), Default, 0); err == nil || !strings.Contains(err.Error(), "queue is full") {
			t.Errorf("second in a queue for one: %v", err)
		}
		p.Return(held)
		synctest.Wait()
	})
}

// If a waiter's context ends just when it is granted a connection, the next waiter gets the connection.
func TestAGrantIsntLost(t *testing.T) {
	p, _, _ := fakePool(t, Limits{MaxOpen: 1})
	held := borrow(t, p, Default, 0)
	w := join(p)
	p.Return(held)
	giveUp(t, p, w)
	if s := p.Stats(); s.Idle != 1 || s.Lent != 0 {
		t.Errorf("%+v, want the connection idle", s)
	}
}

// The same with a place to dial in.
func TestATicketIsntLost(t *testing.T) {
	p, _, _ := fakePool(t, Limits{MaxOpen: 1})
	held := borrow(t, p, Default, 0)
	w := join(p)
	p.Discard(held)
	if p.Stats().Dialing != 1 {
		t.Fatal("the one that waits has no ticket")
	}
	giveUp(t, p, w)
	if s := p.Stats(); s.Dialing != 0 {
		t.Errorf("%+v, want the place free", s)
	}
	p.Return(borrow(t, p, Default, 0))
}

func join(p *Pool) *waiter {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queue.join()
}

// giveUp lets the waiter w, which was granted something, return because its context has ended.
func giveUp(t *testing.T, p *Pool, w *waiter) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 64 { // until select takes the context's branch
		g := p.wait(ctx, w, time.Now().Add(time.Minute), waits)
		if g.err != nil {
			return
		}
		w.granted <- g
	}
	t.Fatal("the end of the context isn't seen")
}

func TestDiscardLetsTheNextOneDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, f, _ := fakePool(t, Limits{MaxOpen: 1})
		held := borrow(t, p, Default, 0)
		go func() { p.Return(borrow(t, p, Default, 0)) }()
		synctest.Wait()
		p.Discard(held)
		synctest.Wait()
		if n := len(f.loggedIn()); n != 2 || p.Stats().Idle != 1 {
			t.Errorf("%d logins, %+v", n, p.Stats())
		}
	})
}

func TestAReturnThatIsAMistake(t *testing.T) {
	for about, spoil := range map[string]func(*testing.T, *Conn, *fakeServer){
		"a transaction is open": func(t *testing.T, c *Conn, _ *fakeServer) {
			if _, err := c.Exec(t.Context(), "BEGIN"); err != nil {
				t.Fatal(err)
			}
		},
		"a part of an answer was not read": func(t *testing.T, c *Conn, _ *fakeServer) {
			if err := c.Send([]byte{1, 0, 0, 0, 0x0e}, Nothing); err != nil {
				t.Fatal(err)
			}
			if err := c.Stream().Fill(); err != nil {
				t.Fatal(err)
			}
		},
	} {
		p, f, logged := fakePool(t, Limits{})
		c := borrow(t, p, Default, 0)
		spoil(t, c, f)
		p.Return(c)
		if p.Stats().Open != 0 || !strings.Contains(logged.String(), about) {
			t.Errorf("%s: %+v, logged %s", about, p.Stats(), logged)
		}
	}
}

func TestReturnTwice(t *testing.T) {
	p, _, logged := fakePool(t, Limits{})
	c := borrow(t, p, Default, 0)
	p.Return(c)
	p.Return(c)
	p.Discard(c)
	if s := p.Stats(); s.Idle != 1 || s.Open != 1 || bytes.Count(logged.Bytes(), []byte("twice")) != 2 {
		t.Errorf("%+v, logged %s", s, logged)
	}
}

func TestAPoolFollowsItsTarget(t *testing.T) {
	p, f, _ := fakePool(t, Limits{})
	idle, lent := borrow(t, p, Default, 0), borrow(t, p, Default, 0)
	p.Return(idle)
	moved := testTarget
	moved.Addr = "db8:3306"
	p.SetTarget(moved)
	if s := p.Stats(); s.Idle != 0 || s.Lent != 1 || s.Addr != moved.Addr {
		t.Errorf("after the move: %+v", s)
	}
	p.Return(lent)
	p.Return(borrow(t, p, Default, 0))
	if s, logins := p.Stats(), f.loggedIn(); s.Open != 1 || logins[2] != moved.Addr {
		t.Errorf("%+v, logins %q", s, logins)
	}
	p.SetTarget(moved)
	if p.Stats().Idle != 1 {
		t.Error("the same target again closed connections")
	}
}

func TestAMoveDuringALogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, f, _ := fakePool(t, Limits{})
		gate := make(chan struct{})
		f.set(nil, gate)
		go func() { p.Return(borrow(t, p, Default, 0)) }()
		synctest.Wait()
		moved := testTarget
		moved.Addr = "db8:3306"
		p.SetTarget(moved)
		close(gate)
		synctest.Wait()
		if s, logins := p.Stats(), f.loggedIn(); s.Idle != 1 || len(logins) != 2 || logins[1] != moved.Addr {
			t.Errorf("%+v, logins %q", s, logins)
		}
	})
}

func TestCloseWaitsForTheBorrowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _, _ := fakePool(t, Limits{MaxOpen: 2})
		idle, lent := borrow(t, p, Default, 0), borrow(t, p, Default, 0)
		p.Return(idle)
		closed := make(chan error)
		go func() { closed <- p.Close(t.Context()) }()
		synctest.Wait()
		if _, err := p.Borrow(t.Context(), Default, 0); !errors.Is(err, ErrClosed) {
			t.Errorf("borrow from a closed pool: %v", err)
		}
		select {
		case err := <-closed:
			t.Error(err, "closed with a connection borrowed")
		default:
		}
		p.Return(lent)
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
}

func TestCloseCutsOffWhatStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _, _ := fakePool(t, Limits{MaxOpen: 1})
		c := borrow(t, p, Default, 0)
		failed := make(chan error)
		go func() { failed <- c.Stream().Fill() }()
		waiting := make(chan error)
		go func() {
			_, err := p.Borrow(t.Context(), Default, 0)
			waiting <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Close(ctx); err == nil || !strings.Contains(err.Error(), "1 connections") {
			t.Errorf("close: %v", err)
		}
		if err := <-failed; err == nil {
			t.Error("a read goes on after the pool cut it off")
		}
		if err := <-waiting; !errors.Is(err, ErrClosed) {
			t.Errorf("one that waited got %v", err)
		}
		p.Return(c)
	})
}

func TestSweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _, _ := fakePool(t, Limits{IdleTimeout: time.Minute, MaxLifetime: time.Hour, MaxIdle: 2})
		a, b, c := borrow(t, p, Default, 0), borrow(t, p, Default, 0), borrow(t, p, Default, 0)
		p.Return(a)
		<-time.After(30 * time.Second)
		p.Return(b)
		p.Return(c)
		if p.Stats().Idle != 2 {
			t.Errorf("%d idle, want MaxIdle", p.Stats().Idle)
		}
		<-time.After(30 * time.Second)
		p.Sweep(time.Now())
		if p.Stats().Idle != 1 {
			t.Errorf("%d idle after one was so for a minute", p.Stats().Idle)
		}
		old := borrow(t, p, Default, 0)
		<-time.After(time.Hour)
		p.Return(old)
		if p.Stats().Open != 0 {
			t.Error("kept a connection beyond its lifetime")
		}
	})
}

func borrowMany(t *testing.T, p *Pool, n int) []*Conn {
	t.Helper()
	var conns []*Conn
	for range n {
		conns = append(conns, borrow(t, p, Default, 0))
	}
	return conns
}

func returnAll(p *Pool, conns []*Conn) {
	for _, c := range conns {
		p.Return(c)
	}
}

// elsewhere borrows a connection for a request that another server can answer as well.
func elsewhere(t *testing.T, p *Pool) *Conn {
	t.Helper()
	c, err := p.BorrowElsewhere(t.Context(), Default, 0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// eventually polls a real server.
func eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-deadline:
			t.Fatalf("waited in vain: %s", what)
		case <-tick.C:
		}
	}
}

func exec(t testing.TB, c *Conn, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		if _, err := c.Own().Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}
