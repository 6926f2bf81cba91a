//go:build servers

package backend

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"locus/internal/test/servers"
)

// age makes idle connections look unused for so long that the pool checks them before it lends them.
func age(p *Pool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.idle {
		c.returned = c.returned.Add(-2 * trust)
	}
}

func kill(t *testing.T, s *servers.Server, conns []*Conn) {
	t.Helper()
	for _, c := range conns {
		s.Exec(t, fmt.Sprintf("KILL CONNECTION %d", c.ThreadID()))
	}
	for _, c := range conns {
		eventually(t, "the server closes the connection", func() bool { return !c.pulse.alive() })
	}
}

func TestDeadIdleConnectionsArentLent(t *testing.T) {
	engines(t, func(t *testing.T, s *servers.Server) {
		p := realPool(t, target(s), Limits{})
		conns := borrowMany(t, p, 5)
		returnAll(p, conns)
		kill(t, s, conns)
		age(p)
		for range 5 {
			c := borrow(t, p, Default, 0)
			exec(t, c, "DO 1")
			p.Return(c)
		}
		if s := p.Stats(); s.Dead != 5 {
			t.Errorf("%+v", s)
		}
		for _, want := range []*Settings{Default, Default.With("@x", "1")} { // also if the session's state must be set on the connection
			conns = borrowMany(t, p, 2)
			returnAll(p, conns)
			kill(t, s, conns)
			age(p)
			c := borrow(t, p, want, 0)
			exec(t, c, "DO 1")
			p.Return(c)
		}
	})
}

// A dead connection can be lent if it was used a moment ago. After the first loss the pool checks the others.
func TestOneLossIsEnough(t *testing.T) {
	engines(t, func(t *testing.T, s *servers.Server) {
		p := realPool(t, target(s), Limits{})
		conns := borrowMany(t, p, 5)
		kill(t, s, conns)
		now := time.Now().Add(time.Hour)
		returnAll(p, conns)
		for _, c := range conns {
			c.returned = now // trusted, however slow the test
		}
		lost := 0
		for range 5 {
			c := borrow(t, p, Default, 0)
			_, err := c.Exec(t.Context(), "DO 1")
			if _, ok := errors.AsType[*LostError](err); ok {
				lost++
				p.mu.Lock()
				for _, c := range p.idle {
					c.returned = time.Now()
				}
				p.mu.Unlock()
			}
			p.Return(c)
		}
		if lost != 1 || p.Stats().Dead != 4 {
			t.Errorf("%d statements met a dead connection, want 1; %+v", lost, p.Stats())
		}
	})
}

func TestARestart(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := servers.Start(t, engine, 1)[0]
		p := realPool(t, target(s), Limits{})
		returnAll(p, borrowMany(t, p, 3))
		if err := s.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		age(p)
		for {
			_, err := p.Borrow(t.Context(), Default, 0)
			if !NotSent(err) {
				t.Fatalf("while the server is down: %v", err)
			}
			if _, open := errors.AsType[*UnavailableError](err); open {
				break
			}
		}
		if st := p.Stats(); st.Dead != 3 || st.LoginFailures != tripAfter || st.Blocked <= 0 {
			t.Errorf("%+v", st)
		}
		s.Restart(t)
		eventually(t, "the pool finds that the server is back", func() bool {
			c, err := p.Borrow(t.Context(), Default, 0)
			if err != nil {
				return false
			}
			exec(t, c, "DO 1")
			p.Return(c)
			return true
		})
	})
}

// A server that hangs is one that doesn't answer: a login ends in time, and so does setting state.
func TestAServerThatHangs(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := servers.Start(t, engine, 1)[0]
		p := realPool(t, target(s), Limits{ConnectTimeout: 100 * time.Millisecond})
		var c *Conn
		eventually(t, "a login within the short limit", func() bool {
			var err error
			c, err = p.Borrow(t.Context(), Default, 0)
			return err == nil
		})
		p.Return(c)
		if err := s.Pause(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Resume() }()
		var err error
		wants := []*Settings{Default.With("@x", "1"), Default}
		for i := 0; err == nil; i++ { // the pause may take a moment
			if c, err = p.Borrow(t.Context(), wants[i%2], 0); err == nil {
				p.Return(c)
			}
		}
		if _, ok := errors.AsType[*LoginError](err); !ok || !NotSent(err) {
			t.Errorf("from a server that hangs: %v", err)
		}
		if p.Stats().Open != 0 {
			t.Errorf("%+v", p.Stats())
		}
	})
}
