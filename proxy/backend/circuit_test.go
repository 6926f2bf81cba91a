package backend

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestACircuitOpensAndCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, f, logged := fakePool(t, Limits{})
		f.set(errDown, nil)
		for range tripAfter {
			_, err := p.Borrow(t.Context(), Default, 0)
			if e, ok := errors.AsType[*LoginError](err); !ok || e.Addr != testTarget.Addr || !errors.Is(err, errDown) {
				t.Fatalf("login failed with %v", err)
			}
		}
		_, err := p.Borrow(t.Context(), Default, 0)
		e, ok := errors.AsType[*UnavailableError](err)
		if !ok || e.Shard != "s7" || !errors.Is(err, errDown) || e.Retry <= 0 || !NotSent(err) {
			t.Errorf("while open: %v", err)
		}
		if n := len(f.loggedIn()); n != tripAfter {
			t.Errorf("%d logins, want %d", n, tripAfter)
		}
		f.set(nil, nil)
		<-time.After(shortestBackoff)
		p.Return(borrow(t, p, Default, 0))
		if p.Stats().Blocked != 0 {
			t.Error("open after a login succeeded")
		}
		for _, event := range []string{`level=WARN msg="shard unavailable" shard=s7`, "available again"} {
			if strings.Count(logged.String(), event) != 1 {
				t.Errorf("logged %q, want %q once", logged, event)
			}
		}
	})
}

// While a server hangs, logins are tried one at a time. When one fails, all waiting borrowers are refused at
// once.
func TestThoseThatWaitAreRefusedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, f, _ := fakePool(t, Limits{ConnectTimeout: time.Second, WaitTimeout: time.Minute})
		f.set(nil, make(chan struct{}))
		results := make(chan error, 100)
		began := time.Now()
		for range cap(results) {
			go func() {
				_, err := p.Borrow(t.Context(), Default, 0)
				results <- err
			}()
		}
		refused := 0
		for range cap(results) {
			if _, ok := errors.AsType[*UnavailableError](<-results); ok {
				refused++
			}
		}
		if refused != cap(results)-mostDials || time.Since(began) != time.Second {
			t.Errorf("%d refused after %v, want all but %d after a second", refused, time.Since(began), mostDials)
		}
		if n := len(f.loggedIn()); n != mostDials {
			t.Errorf("%d logins", n)
		}
	})
}

func TestOneProbeAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, f, _ := fakePool(t, Limits{})
		f.set(errDown, nil)
		for range tripAfter {
			_, _ = p.Borrow(t.Context(), Default, 0)
		}
		gate := make(chan struct{})
		f.set(nil, gate)
		<-time.After(shortestBackoff)
		probe := make(chan *Conn)
		go func() { probe <- borrow(t, p, Default, 0) }()
		synctest.Wait()
		if _, err := p.Borrow(t.Context(), Default, 0); err == nil || !strings.Contains(err.Error(), "unavailable") {
			t.Errorf("during the probe: %v", err)
		}
		close(gate)
		p.Return(<-probe)
	})
}

// A server that is full refuses logins while its connections work: borrowers wait for those.
func TestAFullServerIsUsedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, f, _ := fakePool(t, Limits{})
		held := borrow(t, p, Default, 0)
		f.set(&ServerError{Code: 1040, State: "08004", Message: "Too many connections"}, nil)
		for range tripAfter {
			_, err := p.Borrow(t.Context(), Default, 0)
			if err == nil || !strings.Contains(err.Error(), "max_connections") {
				t.Errorf("error %v, want a remedy", err)
			}
		}
		got := make(chan *Conn)
		go func() { got <- borrow(t, p, Default, 0) }()
		synctest.Wait()
		p.Return(held)
		if c := <-got; c != held {
			t.Error("another connection")
		}
		p.Return(held)
	})
}

// A borrower that gives up early doesn't count against the server.
func TestImpatienceIsntFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, f, _ := fakePool(t, Limits{})
		f.set(nil, make(chan struct{}))
		for range 2 * tripAfter {
			ctx, cancel := context.WithTimeout(t.Context(), slowLogin-1)
			_, err := p.Borrow(ctx, Default, 0)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
		}
		if p.Stats().Blocked != 0 {
			t.Error("impatient borrowers shut the shard off")
		}
		for range tripAfter {
			ctx, cancel := context.WithTimeout(t.Context(), slowLogin)
			_, _ = p.Borrow(ctx, Default, 0)
			cancel()
		}
		if p.Stats().Blocked == 0 {
			t.Error("a server that doesn't answer is not noticed by impatient borrowers")
		}
	})
}
