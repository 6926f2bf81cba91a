//go:build servers

package backend

import (
	"context"
	"errors"
	"testing"
	"time"

	"locus/internal/test/servers"
)

var errOverdue = errors.New("a probe has had no answer for 1s")

// awaits waits for an error from errs, and returns it.
func awaits(t *testing.T, what string, errs <-chan error) error {
	t.Helper()
	select {
	case err := <-errs:
		return err
	case <-time.After(time.Minute):
		t.Fatalf("%s never ends", what)
		return nil
	}
}

// When a server is overdue, the pool gives up the requests that another server can answer. It does not give up
// requests that only this server can answer, answers that have begun to arrive, or requests of a later borrower
// of the same connection.
func TestWhatAnotherServerCanBeAskedDoesNotWaitForOneThatIsOverdue(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := servers.Shared(t, engine, 1)[0]
		p := realPool(t, target(s), Limits{})
		asked := make(chan error, 1)
		ask := func(c *Conn, sql string) {
			go func() {
				_, err := c.Own().Query(t.Context(), sql)
				asked <- err
			}()
			eventually(t, "the server runs it", func() bool { return runs(t, s, c.ThreadID()) })
		}

		free := elsewhere(t, p)
		ask(free, "SELECT SLEEP(600)")
		p.Overdue(errOverdue)
		err := awaits(t, "what another can be asked", asked)
		if lost, ok := errors.AsType[*LostError](err); !ok || !lost.Sent || !errors.Is(err, errOverdue) {
			t.Errorf("it ends with %v", err)
		}
		p.Discard(free)

		bound := borrow(t, p, Default, 0)
		ask(bound, "SELECT SLEEP(0.3)")
		p.Overdue(errOverdue)
		if err := awaits(t, "what only this one can answer", asked); err != nil {
			t.Errorf("what only this one can answer: %v", err)
		}
		p.Return(bound)

		answered := elsewhere(t, p)
		if _, err := answered.Own().Query(t.Context(), "SELECT 1"); err != nil {
			t.Fatal(err)
		}
		p.Overdue(errOverdue)
		if _, err := answered.Own().Query(t.Context(), "SELECT 1"); err != nil {
			t.Errorf("a connection that has answered: %v", err)
		}
		p.Return(answered)

		unsent := elsewhere(t, p)
		p.Return(unsent)
		next := borrow(t, p, Default, 0)
		if next != unsent {
			t.Fatal("it is another connection")
		}
		ask(next, "SELECT SLEEP(0.3)")
		p.Overdue(errOverdue)
		if err := awaits(t, "the next borrower's", asked); err != nil {
			t.Errorf("the next borrower's: %v", err)
		}
		p.Return(next)
	})
}

// runs reports whether the server runs a statement on a connection.
func runs(t *testing.T, s *servers.Server, thread uint32) bool {
	t.Helper()
	var n int
	if err := s.DB(t, "").QueryRow("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = ? AND COMMAND = 'Query'", thread).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n == 1
}

// A borrower that waits for a connection is refused if it can ask another server, and otherwise keeps waiting.
func TestALoginAtAServerThatIsOverdueIsNotWaitedFor(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := servers.Shared(t, engine, 1)[0]
		to := target(s)
		to.Addr = freezing(t, s.Addr(), "program_name")
		p := realPool(t, to, Limits{ConnectTimeout: time.Hour, RestartWait: time.Hour})
		turned, waited := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := p.BorrowElsewhere(t.Context(), Default, 0)
			turned <- err
		}()
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_, err := p.BorrowSoon(ctx, Default, 0)
			waited <- err
		}()
		eventually(t, "logins are under way", func() bool { return p.Stats().Dialing == 2 })
		p.Overdue(errOverdue)
		if err := awaits(t, "a login", turned); !NotSent(err) || !errors.Is(err, errOverdue) {
			t.Errorf("it ends with %v", err)
		}
		if st := p.Stats(); st.Dialing != 1 {
			t.Errorf("%d logins are under way, want 1", st.Dialing)
		}
		cancel()
		_ = awaits(t, "the other login", waited)
	})
}
