package backend

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
)

var errRefused = fmt.Errorf("dial: %w", syscall.ECONNREFUSED)

// borrowing starts some borrowers at once, and returns their results.
func borrowing(t *testing.T, p *Pool, some int) <-chan error {
	results := make(chan error, some)
	for range some {
		go func() {
			c, err := p.Borrow(t.Context(), Default, 0)
			if err == nil {
				p.Return(c)
			}
			results <- err
		}()
	}
	return results
}

// While a server restarts, all borrowers wait without an error, and only one at a time tries to connect.
func TestARestartIsWaitedFor(t *testing.T) {
	for _, reason := range []error{
		errRefused, context.DeadlineExceeded, errors.New("EOF"),
		&ServerError{Code: mysql.ER_SERVER_SHUTDOWN}, &ServerError{Code: erServerNotAvailable},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, f, _ := fakePool(t, Limits{MaxOpen: 3, WaitTimeout: time.Second, RestartWait: 10 * time.Second})
			f.set(reason, nil)
			results := borrowing(t, p, 50)
			<-time.After(7 * time.Second)
			if n := len(f.loggedIn()); n > mostDials+7*5 {
				t.Errorf("%d logins in 7 s: one may be tried each %v", n, shortestBackoff)
			}
			if p.Stats().Waiting < 49 {
				t.Errorf("%+v: fewer wait than came", p.Stats())
			}
			f.set(nil, nil)
			back := time.Now()
			for range cap(results) {
				if err := <-results; err != nil {
					t.Error(err)
				}
			}
			if late := time.Since(back); late > shortestBackoff {
				t.Errorf("those who waited went on %v after the server", late)
			}
		})
	}
}

// A borrower that comes late waits for the rest of the limit only. After that all are refused at once, until
// the server is back.
func TestARestartIsNotWaitedForWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, f, _ := fakePool(t, Limits{WaitTimeout: time.Second, RestartWait: 10 * time.Second})
		f.set(errRefused, nil)
		began := time.Now()
		early := borrowing(t, p, 20)
		<-time.After(8 * time.Second)
		late := borrowing(t, p, 20)
		for _, results := range []<-chan error{early, late} {
			for range cap(results) {
				if err := <-results; !NotSent(err) {
					t.Errorf("%v", err)
				}
			}
		}
		if took := time.Since(began); took < 10*time.Second || took > 10*time.Second+shortestBackoff {
			t.Errorf("refused after %v", took)
		}
		began = time.Now()
		if _, err := p.Borrow(t.Context(), Default, 0); err == nil || time.Since(began) != 0 {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		f.set(nil, nil)
		<-time.After(longestBackoff)
		p.Return(borrow(t, p, Default, 0))

		f.set(errRefused, nil) // the limit starts again with the next outage
		closeIdle(p)
		results := borrowing(t, p, 1)
		<-time.After(5 * time.Second)
		f.set(nil, nil)
		if err := <-results; err != nil {
			t.Error(err)
		}
	})
}

func closeIdle(p *Pool) {
	p.mu.Lock()
	defer p.unlock()
	p.doomIdle(func(*Conn) bool { return true })
}

// Borrowers don't wait for an error that a restart doesn't repair, nor beyond the end of their context or of
// the pool.
func TestWhatDoesNotWaitForARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, f, _ := fakePool(t, Limits{RestartWait: 10 * time.Second})
		began := time.Now()
		f.set(&ServerError{Code: mysql.ER_ACCESS_DENIED_ERROR}, nil)
		for range 2 * tripAfter {
			if _, err := p.Borrow(t.Context(), Default, 0); err == nil || time.Since(began) != 0 {
				t.Errorf("%v after %v", err, time.Since(began))
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		p, f, _ := fakePool(t, Limits{RestartWait: 10 * time.Second})
		f.set(errRefused, nil)
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if _, err := p.Borrow(ctx, Default, 0); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 3*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		results := borrowing(t, p, 5)
		synctest.Wait()
		p.Retire()
		for range cap(results) {
			if err := <-results; !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		}
	})
}

// When a server reports that it is shutting down, all of its connections count as lost, even those that it
// hasn't closed yet.
func TestAServerThatIsShuttingDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _, _ := fakePool(t, Limits{})
		conns := borrowMany(t, p, 5)
		returnAll(p, conns[2:])
		_, err := conns[0].Exec(t.Context(), "shut down")
		if lost, ok := errors.AsType[*LostError](err); !ok || !lost.Sent {
			t.Errorf("%v", err)
		}
		if _, refused := errors.AsType[*ServerError](err); refused {
			t.Error("it is told for a refusal, which would mean that nothing was done")
		}
		p.Discard(conns[0])
		if open := p.Stats().Open; open != 1 {
			t.Errorf("%d connections are left, want the one that is lent", open)
		}
		p.Return(conns[1])
		if open := p.Stats().Open; open != 0 {
			t.Errorf("%d connections are left", open)
		}
		p.Return(borrow(t, p, Default, 0))
	})
}
