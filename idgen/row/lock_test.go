//go:build servers

package row

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"locus/idgen/breaker"
	"locus/idgen/redis"
	"locus/internal/test/servers"
)

// Two processes: one at a time has the lock.
func TestASharedLockIsOnes(t *testing.T) {
	server := servers.Redis(t)
	var held int // guarded only by the lock, so the race detector sees two holders
	var takers sync.WaitGroup
	for range 2 {
		client := redis.Open(redis.Config{Address: server.Addr})
		defer client.Close()
		lock := NewShared(client, "lock", breaker.Options{})
		for range 3 {
			takers.Go(func() {
				for n := 0; n < 5; {
					unlock, err := lock.Lock(t.Context())
					if err != nil {
						continue // another caller holds it for longer than the wait
					}
					if held++; held != 1 {
						t.Errorf("%d have it", held)
					}
					held--
					n++
					unlock()
				}
			})
		}
	}
	takers.Wait()
}

// locks is a lock server on which locks fail, or are held by others.
type locks struct {
	err   error
	asked int
}

func (l *locks) TryLock(context.Context, string, string, time.Duration) (bool, error) {
	l.asked++
	return false, l.err
}
func (*locks) Unlock(context.Context, string, string) error { return nil }

// A caller that can't get the lock returns in time. A lock server that fails is not asked for a while.
func TestALockThatCanNotBeHad(t *testing.T) {
	taken := NewShared(&locks{}, "lock", breaker.Options{})
	if _, err := taken.Lock(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("somebody else's: %v", err)
	}
	failing := &locks{err: errors.New("away")}
	away := NewShared(failing, "lock", breaker.Options{Pause: time.Hour})
	for range 10 {
		if _, err := away.Lock(t.Context()); err == nil {
			t.Error("a lock of servers that are away")
		}
	}
	if failing.asked != 3 {
		t.Errorf("asked %d times, want 3", failing.asked)
	}
	if away.State() != breaker.Open {
		t.Errorf("the breaker is %s", away.State())
	}
}

// silentLocks never answer.
type silentLocks struct{ deadlines []time.Time }

func (s *silentLocks) TryLock(ctx context.Context, _, _ string, _ time.Duration) (bool, error) {
	return false, s.wait(ctx)
}

func (s *silentLocks) Unlock(ctx context.Context, _, _ string) error { return s.wait(ctx) }

func (s *silentLocks) wait(ctx context.Context) error {
	deadline, _ := ctx.Deadline()
	s.deadlines = append(s.deadlines, deadline)
	<-ctx.Done()
	return ctx.Err()
}

// An unresponsive lock server takes at most half of the caller's time, and none once the time is over.
func TestALockLeavesTimeForTheRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &silentLocks{}
		shared := NewShared(s, "lock", breaker.Options{})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		began := time.Now()
		if _, err := shared.Lock(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 50*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		shared.unlock(ctx, "token")
		if waited := time.Since(began); waited != 100*time.Millisecond {
			t.Errorf("the unlock ended after %v", waited)
		}
		shared.unlock(ctx, "token")
		if len(s.deadlines) != 2 || time.Since(began) != 100*time.Millisecond {
			t.Errorf("asked %d times, %v", len(s.deadlines), time.Since(began))
		}
	})
}
