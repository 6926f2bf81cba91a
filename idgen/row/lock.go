package row

import (
	"context"
	"crypto/rand"
	"errors"
	randv2 "math/rand/v2"
	"time"

	"locus/idgen/breaker"
)

// Lock separates callers before they reach the database, so that fewer wait there or lose a swap. Numbers are unique
// without it too.
type Lock interface {
	// Lock waits for the lock until ctx ends. After an error the caller continues without the lock.
	Lock(ctx context.Context) (unlock func(), err error)
}

// Local is a lock within this process.
type Local struct{ free chan struct{} }

// NewLocal returns a free lock.
func NewLocal() *Local { return &Local{make(chan struct{}, 1)} }

// Lock implements Lock.
func (l *Local) Lock(ctx context.Context) (func(), error) {
	select {
	case l.free <- struct{}{}:
		return func() { <-l.free }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// TryLocks are locks shared by processes, as in Redis. After a failover two processes may hold one.
type TryLocks interface {
	// TryLock takes a lock for a limited time, or returns false if another process has it.
	TryLock(ctx context.Context, key, token string, ttl time.Duration) (bool, error)
	// Unlock releases a lock if it is still held by the token.
	Unlock(ctx context.Context, key, token string) error
}

// Shared is a lock between processes. Callers in one process first wait for its Local, so that one at a time requests
// the shared lock.
type Shared struct {
	local   *Local
	locks   TryLocks
	key     string
	breaker *breaker.Breaker
}

// NewShared returns the lock of a key.
func NewShared(locks TryLocks, key string, o breaker.Options) *Shared {
	return &Shared{NewLocal(), locks, key, breaker.New(o)}
}

// How long a caller waits for a lock that only saves work, and how long an unreleased one lasts.
const (
	lockPatience = 100 * time.Millisecond
	lockTTL      = 2 * time.Second
)

var errAway = errors.New("locks could not be asked for lately")

// Lock implements Lock. It waits at most 100 ms, and no more than half of the caller's time, since the row is still to
// be asked for.
func (s *Shared) Lock(ctx context.Context) (func(), error) {
	patience := lockPatience
	if deadline, limited := ctx.Deadline(); limited {
		patience = min(patience, time.Until(deadline)/2)
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	free, err := s.local.Lock(waiting)
	if err != nil {
		return nil, err
	}
	token := rand.Text()
	if err := s.taken(waiting, token); err != nil {
		free()
		return nil, err
	}
	return func() {
		defer free()
		s.unlock(ctx, token)
	}, nil
}

// unlock releases the lock if the caller has time left. The lock expires by itself.
func (s *Shared) unlock(ctx context.Context, token string) {
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	if ctx.Err() == nil {
		_ = s.locks.Unlock(ctx, s.key, token)
	}
}

// taken waits until the token holds the lock.
func (s *Shared) taken(ctx context.Context, token string) error {
	for {
		if !s.breaker.Allow() {
			return errAway
		}
		ok, err := s.locks.TryLock(ctx, s.key, token, lockTTL)
		s.breaker.Ended(ctx, err)
		if ok || err != nil {
			return err
		}
		again := time.NewTimer(time.Millisecond + randv2.N(4*time.Millisecond))
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return context.Cause(ctx)
		}
	}
}

// State returns the state of the breaker before the shared lock.
func (s *Shared) State() breaker.State { return s.breaker.State() }
