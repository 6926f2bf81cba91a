package row

import (
	"context"
	"crypto/rand"
	"errors"
	randv2 "math/rand/v2"
	"time"

	"locus/idgen/breaker"
)

// Lock keeps callers apart before they reach the database, so that fewer wait
// there or lose a swap. Numbers differ without it too.
type Lock interface {
	// Lock waits for the lock until ctx ends. An error means that the caller has
	// none and goes on without.
	Lock(ctx context.Context) (unlock func(), err error)
}

// Local is a lock within this process.
type Local struct{ free chan struct{} }

// NewLocal is a lock that is free.
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

// TryLocks are locks that processes share, as Redis has them. Two may have one
// after a failover.
type TryLocks interface {
	// TryLock takes a lock for a while, or tells that somebody else has it.
	TryLock(ctx context.Context, key, token string, ttl time.Duration) (bool, error)
	// Unlock gives a lock back if it still is the token's.
	Unlock(ctx context.Context, key, token string) error
}

// Shared is a lock between processes. Within one, its Local is waited for, so
// that one at a time asks for the other.
type Shared struct {
	local   *Local
	locks   TryLocks
	key     string
	breaker *breaker.Breaker
}

// NewShared is the lock of a key.
func NewShared(locks TryLocks, key string, o breaker.Options) *Shared {
	return &Shared{NewLocal(), locks, key, breaker.New(o)}
}

// What a caller waits for a lock that only spares work, and how long one that
// nobody gives back lasts.
const (
	lockPatience = 100 * time.Millisecond
	lockTTL      = 2 * time.Second
)

var errAway = errors.New("locks could not be asked for lately")

// Lock implements Lock. It waits 100 ms at most.
func (s *Shared) Lock(ctx context.Context) (func(), error) {
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	free, err := s.local.Lock(ctx)
	if err != nil {
		return nil, err
	}
	token := rand.Text()
	if err := s.taken(ctx, token); err != nil {
		free()
		return nil, err
	}
	return func() {
		defer free()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lockPatience)
		defer cancel()
		_ = s.locks.Unlock(ctx, s.key, token) // it ends by itself
	}, nil
}

// taken waits until the lock is the token's.
func (s *Shared) taken(ctx context.Context, token string) error {
	for {
		if !s.breaker.Allow() {
			return errAway
		}
		ok, err := s.locks.TryLock(ctx, s.key, token, lockTTL)
		s.breaker.Done(err)
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

// State is that of the breaker before the shared lock.
func (s *Shared) State() breaker.State { return s.breaker.State() }
