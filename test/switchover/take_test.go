package switchover

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"locus/control/declared"
	"locus/control/switchover"
	"locus/internal/test/servers"
)

// A primary is lost, and an operator takes the replica. The lost server comes back writable, and follows. Then
// both servers take writes, and each has transactions that the other one lacks.
func (s *stand) taken(t *testing.T) {
	s.lookAfter(t)
	if _, err := s.to(0).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.same(t)
	if err := s.servers[0].Kill(); err != nil {
		t.Fatal(err)
	}
	doomed, dead := s.to(1), sync.WaitGroup{}
	doomed.Stop = func(at switchover.Line) {
		if at == switchover.Turn { // from here on both servers accept writes, and no process notices
			runtime.Goexit()
		}
	}
	dead.Go(func() {
		// On a busy machine proxies may confirm too late for the order to reach its turning point. A mover
		// completes the order in that case as well.
		if err := doomed.Take(t.Context(), false); err == nil || !strings.Contains(err.Error(), "without a lease") {
			t.Error(err)
		}
	})
	dead.Wait()
	servers.Eventually(t, "the order is taken up", func() error {
		p, err := declared.ReadPrimary(t.Context(), s.kv, "s0")
		if err == nil && (p.Server != s.servers[1].Addr() || p.Next != "") {
			err = errors.New(string(p.Encode()))
		}
		return err
	})
	_, unfinished := errors.AsType[*switchover.UnfinishedError](s.to(1).Take(t.Context(), false))
	if !unfinished {
		t.Error("the order is said to have ended with a server that is lost")
	}
	l := s.load(t)
	l.more(t, 20)
	s.servers[0].Restart(t) // it accepts writes, because its configuration doesn't make it read-only
	s.wantNamed(t, 1)
	l.end()
	if n := l.failed.Load(); n != 0 {
		t.Errorf("%d statements failed, the first: %v", n, l.first)
	}
	s.wantPrimary(t, 1)

	s.readOnly(t, 0, false)
	if err := s.to(1).Take(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	s.wantPrimary(t, 1)

	s.readOnly(t, 0, false)
	s.servers[0].Exec(t, "CREATE DATABASE unsent")
	refused, ok := errors.AsType[*switchover.Refused](s.to(1).Take(t.Context(), false))
	if !ok || !strings.Contains(refused.Error(), "lacks transactions that "+s.servers[0].Addr()+" has: ") {
		t.Errorf("%v", refused)
	}
	s.same(t)
	if err := s.to(0).Take(t.Context(), false); err != nil { // it has all transactions of the other one
		t.Fatal(err)
	}
	s.wantPrimary(t, 0)
}

// same waits until the servers of s0 have the same, and the document is settled.
func (s *stand) same(t *testing.T) {
	t.Helper()
	servers.Eventually(t, "the servers have the same", func() error {
		p, err := declared.ReadPrimary(t.Context(), s.kv, "s0")
		switch {
		case err != nil:
			return err
		case !p.Settled():
			return errors.New(string(p.Encode()))
		case s.sum(t, 0) != s.sum(t, 1):
			return errors.New("they don't")
		}
		return nil
	})
}
