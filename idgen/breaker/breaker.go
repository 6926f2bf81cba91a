// Package breaker keeps callers away from a server that fails, for a while.
//
// It owns the count of failures and the time of the next trial. It never calls
// the server itself, never starts a goroutine, and never says why a call
// failed: that is its callers' to tell.
package breaker

import (
	"cmp"
	"fmt"
	"sync"
	"time"
)

// State is what a breaker does with the next call.
type State int

const (
	// Closed lets every call through.
	Closed State = iota
	// Open refuses calls until the pause is over.
	Open
	// Trying has let one call through after the pause and refuses the others
	// until that one has ended.
	Trying
)

// String is the state as metrics and pages name it.
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

// Options are the settings of a Breaker. Fields left zero get the value that
// their comment names.
type Options struct {
	Failures int           // in a row that open it (3)
	Pause    time.Duration // until a call is tried again (2 s)
	Now      func() time.Time
}

// Breaker is safe for concurrent use.
type Breaker struct {
	options Options

	mu       sync.Mutex // never held across a call
	failures int        // in a row
	until    time.Time  // of the pause; zero: closed
	trying   bool       // a call is under way after the pause
}

// New is a closed breaker.
func New(o Options) *Breaker {
	o.Failures = cmp.Or(o.Failures, 3)
	o.Pause = cmp.Or(o.Pause, 2*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Breaker{options: o}
}

// Allow reports whether a call may be made. Who was let through calls
// Done, or Leave.
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

// Leave takes back what Allow said: the call was not made.
func (b *Breaker) Leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trying = false
}

// remaining is what is left of the pause. A clock that was set back must not
// make it longer than it ever was.
func (b *Breaker) remaining() time.Duration {
	left := b.until.Sub(b.options.Now())
	if left > b.options.Pause {
		return 0
	}
	return left
}

// Done tells how a call ended that Allow let through.
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

// State is what happens to the next call.
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
