package stream

import (
	"errors"
	"sync/atomic"
	"time"
)

// ErrOver means that a connection's term is over. Data received since then must not be passed on.
var ErrOver = errors.New("the connection's term is over")

// Term is a point in time until which received data counts. The zero value has no end. It is safe for concurrent use.
type Term struct{ until atomic.Pointer[time.Time] } // on the monotonic clock; nil: no end

// Extend moves the end to a later time. An earlier time changes nothing.
func (t *Term) Extend(until time.Time) {
	for {
		was := t.until.Load()
		if was != nil && !was.Before(until) || t.until.CompareAndSwap(was, &until) {
			return
		}
	}
}

// Lift removes the end.
func (t *Term) Lift() { t.until.Store(nil) }

// Left returns the remaining time, which is negative once the term is over. The term must have an end.
func (t *Term) Left() time.Duration { return time.Until(*t.until.Load()) }

// Ended returns when the term ended, or the zero time if it hasn't. A nil Term has no end.
func (t *Term) Ended() time.Time {
	if !t.Over() {
		return time.Time{}
	}
	return *t.until.Load()
}

// Over reports whether the term has ended. A nil Term has no end.
func (t *Term) Over() bool {
	if t == nil {
		return false
	}
	until := t.until.Load()
	return until != nil && !time.Now().Before(*until)
}

// SetTerm makes Fill fail with ErrOver once the term is over, even for bytes that have arrived. Call it before the first read.
func (c *Conn) SetTerm(t *Term) { c.term = t }
