package stream

import (
	"errors"
	"sync/atomic"
	"time"
)

// ErrOver says that a connection's term is over: what has come since says nothing that may be told on.
var ErrOver = errors.New("the connection's term is over")

// Term is until when what comes over connections counts. The zero value has no end. Safe for concurrent use.
type Term struct{ until atomic.Pointer[time.Time] } // by the monotonic clock; nil: no end

// Extend puts the end off; an earlier one than before changes nothing.
func (t *Term) Extend(until time.Time) {
	for {
		was := t.until.Load()
		if was != nil && !was.Before(until) || t.until.CompareAndSwap(was, &until) {
			return
		}
	}
}

// Lift takes the end away.
func (t *Term) Lift() { t.until.Store(nil) }

// Left is how long it lasts; negative: it is over. Not for one without an end.
func (t *Term) Left() time.Duration { return time.Until(*t.until.Load()) }

// Over tells whether it has ended. A nil one has no end.
func (t *Term) Over() bool {
	if t == nil {
		return false
	}
	until := t.until.Load()
	return until != nil && !time.Now().Before(*until)
}

// SetTerm has Fill fail with ErrOver once a term is over, also for bytes that have arrived. It is called before anything is read.
func (c *Conn) SetTerm(t *Term) { c.term = t }
