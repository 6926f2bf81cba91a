//go:build servers

package backend

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"locus/internal/test/servers"
	"locus/proxy/health"
)

var errStill = &health.FrozenError{Silent: 5 * time.Second}

// frozen reports whether err is the error for an unresponsive server.
func frozen(err error) bool {
	_, ok := errors.AsType[*health.FrozenError](err)
	return ok
}

// A frozen server delays no session, whether it waits for an answer, for a connection, or for a login.
func TestAFrozenServerKeepsNobodyWaiting(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := servers.Shared(t, engine, 1)[0]
		p := realPool(t, target(s), Limits{MaxOpen: 2, WaitTimeout: time.Hour, RestartWait: time.Hour, ConnectTimeout: time.Hour})
		busy, idle := borrow(t, p, Default, 0), borrow(t, p, Default, 0)
		p.Return(idle)
		other := borrow(t, p, Default, 0)
		ended := make(chan error, 2)
		go func() {
			_, err := busy.Query(t.Context(), "SELECT SLEEP(600)")
			p.Discard(busy)
			ended <- err
		}()
		go func() {
			_, err := p.Borrow(t.Context(), Default, 0)
			ended <- err
		}()
		eventually(t, "somebody waits", func() bool { return p.Stats().Waiting == 1 })
		p.Freeze(errStill)
		for range 2 {
			select {
			case err := <-ended:
				if !frozen(err) {
					t.Errorf("it ends with %v", err)
				}
			case <-time.After(time.Minute):
				t.Fatal("somebody still waits")
			}
		}
		_, err := other.Exec(t.Context(), "SET @a = 1")
		if lost, ok := errors.AsType[*LostError](err); !ok || !frozen(err) {
			t.Errorf("what comes after it: %v, %v", err, lost)
		}
		p.Discard(other)
		if _, err := p.Borrow(t.Context(), Default, 0); !NotSent(err) || !frozen(err) {
			t.Errorf("a new statement: %v", err)
		}
		if st := p.Stats(); st.Open != 0 {
			t.Errorf("%d connections are kept", st.Open)
		}
		p.Thaw()
		p.Return(borrow(t, p, Default, 0))
	})
}

// A login under way ends with the freeze too.
func TestALoginEndsWhenItsServerFreezes(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := servers.Shared(t, engine, 1)[0]
		to := target(s)
		to.Addr = freezing(t, s.Addr(), "program_name")
		p := realPool(t, to, Limits{ConnectTimeout: time.Hour, RestartWait: time.Hour})
		ended := make(chan error, 1)
		go func() {
			_, err := p.Borrow(t.Context(), Default, 0)
			ended <- err
		}()
		eventually(t, "a login is under way", func() bool { return p.Stats().Dialing == 1 })
		p.Freeze(errStill)
		select {
		case err := <-ended:
			if !frozen(err) || !NotSent(err) {
				t.Errorf("it ends with %v", err)
			}
		case <-time.After(time.Minute):
			t.Fatal("the login never ends")
		}
	})
}

// The pool counts the received bytes, also of closed connections. Closing a connection adds none.
func TestWhatHasComeFromAServer(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := servers.Shared(t, engine, 1)[0]
		p := realPool(t, target(s), Limits{})
		none := p.Received()
		c := borrow(t, p, Default, 0)
		login := p.Received()
		if login == none {
			t.Error("a login was answered, and nothing has come")
		}
		if _, err := c.Exec(t.Context(), "DO 1"); err != nil {
			t.Fatal(err)
		}
		answered := p.Received()
		if answered == login {
			t.Error("a statement was answered, and nothing has come")
		}
		p.Discard(c)
		if got := p.Received(); got != answered {
			t.Errorf("a connection is gone: %d, before %d", got, answered)
		}
	})
}

// TestWhatAProbeFinds checks the result of a probe for each state of a server.
func TestWhatAProbeFinds(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := servers.Shared(t, engine, 1)[0]
		probe := func(change func(*Target)) health.Report {
			to := target(s)
			change(&to)
			p := NewPool(to, Limits{ConnectTimeout: time.Minute}, slog.New(slog.DiscardHandler))
			defer func() { _ = p.Close(context.WithoutCancel(t.Context())) }()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			return p.Probe(ctx)
		}
		for name, c := range map[string]struct {
			change func(*Target)
			want   health.Finding
		}{
			"it is there":        {func(*Target) {}, health.Answers},
			"a wrong password":   {func(to *Target) { to.Password = func() (string, error) { return "wrong", nil } }, health.Refuses},
			"no secret":          {func(to *Target) { to.Password = func() (string, error) { return "", errors.New("none") } }, health.Refuses},
			"nobody listens":     {func(to *Target) { to.Addr = "127.0.0.1:1" }, health.Refuses},
			"it greets no more":  {func(to *Target) { to.Addr = freezing(t, s.Addr(), "program_name") }, health.Silent},
			"it answers nothing": {func(to *Target) { to.Addr = freezing(t, s.Addr(), "read_only") }, health.Silent},
		} {
			if r := probe(c.change); r.Finding != c.want || (r.Err == nil) != (c.want == health.Answers) {
				t.Errorf("%s: found %v, %v", name, r.Finding, r.Err)
			}
		}
	})
}

// The connection of the probes may have been killed in the meantime. That must not be reported as a fault of
// the server.
func TestAProbeWhoseConnectionWasKilledFindsTheServer(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := servers.Shared(t, engine, 1)[0]
		p := realPool(t, target(s), Limits{})
		for range 2 {
			if r := p.Probe(t.Context()); r.Finding != health.Answers {
				t.Fatal(r.Err)
			}
		}
		killed := p.prober.ThreadID()
		c := borrow(t, p, Default, 0)
		if _, err := c.Exec(t.Context(), fmt.Sprintf("KILL CONNECTION %d", killed)); err != nil {
			t.Fatal(err)
		}
		p.Return(c)
		if r := p.Probe(t.Context()); r.Finding != health.Answers {
			t.Errorf("found %v, %v", r.Finding, r.Err)
		}
		if got := p.prober.ThreadID(); got == killed {
			t.Error("the connection of the probes was not killed")
		}
	})
}
