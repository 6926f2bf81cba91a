// Package breaker is a circuit breaker. It keeps callers away from a failing server for a while.
//
// It owns the count of failures and the time of the next trial. It never calls the server itself, never starts a
// goroutine, and doesn't decide which errors are failures; its callers do.
package breaker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// State determines whether the breaker allows the next call.
type State int

const (
	// Closed admits every call.
	Closed State = iota
	// Open refuses calls until the pause is over.
	Open
	// Trying has admitted one call after the pause, and refuses others until it has ended.
	Trying
)

// String returns the state as named in metrics and pages.
func (s State) String() string {
	switch s {
	case Closed:
		return "closed"
	case Open:
		return "open"
	case Trying:
		return "trying"
	}
	return fmt.Sprintf("state %d", int(s))
}

// Options are the settings of a Breaker. Zero fields get the default in parentheses.
type Options struct {
	Failures int           // consecutive failures that open it (3)
	Pause    time.Duration // time until a call is tried again (2 s)
	Now      func() time.Time
}

// Breaker is safe for concurrent use.
type Breaker struct {
	options Options

	mu       sync.Mutex // never held across a call
	failures int        // consecutive failures
	until    time.Time  // end of the pause; zero if closed
	trying   bool       // a call is in progress after the pause
}

// New returns a closed breaker.
func New(o Options) *Breaker {
	o.Failures = cmp.Or(o.Failures, 3)
	o.Pause = cmp.Or(o.Pause, 2*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Breaker{options: o}
}

// Allow reports whether a call may be made. If so, the caller must call Done, Ended or Leave.
func (b *Breaker) Allow() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.until.IsZero():
		return true
	case b.trying || b.remaining() > 0:
		return false
	}
	b.trying = true
	return true
}

// Leave reverts Allow. The call was not made.
func (b *Breaker) Leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trying = false
}

// remaining returns the rest of the pause. A clock that was set back must not lengthen it.
func (b *Breaker) remaining() time.Duration {
	left := b.until.Sub(b.options.Now())
	if left > b.options.Pause {
		return 0
	}
	return left
}

// Done records the result of a call that Allow admitted.
func (b *Breaker) Done(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		b.failures, b.until, b.trying = 0, time.Time{}, false
		return
	}
	b.failures++
	if b.trying || b.failures >= b.options.Failures {
		b.until, b.trying = b.options.Now().Add(b.options.Pause), false
	}
}

// Ended records the result of a call with the caller's context. A call that its caller cancelled reveals nothing about the
// server. A call whose time limit has passed counts as a failure, because the server had not answered by then.
func (b *Breaker) Ended(ctx context.Context, err error) {
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		b.Leave()
		return
	}
	b.Done(err)
}

// State returns whether the next call would be allowed.
func (b *Breaker) State() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.until.IsZero():
		return Closed
	case b.trying:
		return Trying
	}
	return Open
}
