package mirror

import (
	"errors"
	"time"
)

// away tracks whether a target is unavailable. The zero value is an available target.
type away struct {
	since time.Time
	why   string
	next  time.Time // when one copy tries again
}

// keepsOff reports whether copies can be skipped now.
func (a *away) keepsOff(now time.Time) bool { return a.why != "" && now.Before(a.next) }

// asks reports whether a copy may be sent. While the target is away, one is sent per pause.
func (a *away) asks(now time.Time, pause time.Duration) bool {
	if a.keepsOff(now) {
		return false
	}
	if a.why != "" {
		a.next = now.Add(pause)
	}
	return true
}

// begin records that a copy got no answer.
func (a *away) begin(err error, now time.Time, pause time.Duration) {
	if a.why == "" {
		a.since = now
	}
	a.why, a.next = err.Error(), now.Add(pause)
}

// late reports whether the deadline ended a copy.
func late(err error) bool { return errors.Is(err, errLate) }
