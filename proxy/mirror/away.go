package mirror

import (
	"errors"
	"time"
)

// away is a target that can't be asked. Its zero value is one that can.
type away struct {
	since time.Time
	why   string
	next  time.Time // when one copy tries whether it is back
}

// keepsOff tells whether no copy need be made now.
func (a *away) keepsOff(now time.Time) bool { return a.why != "" && now.Before(a.next) }

// asks tells whether a copy may be sent: while the target is away, one at a time now and then.
func (a *away) asks(now time.Time, pause time.Duration) bool {
	if a.keepsOff(now) {
		return false
	}
	if a.why != "" {
		a.next = now.Add(pause)
	}
	return true
}

// begin notes that a copy was not answered.
func (a *away) begin(err error, now time.Time, pause time.Duration) {
	if a.why == "" {
		a.since = now
	}
	a.why, a.next = err.Error(), now.Add(pause)
}

// late tells the end of a copy by its deadline.
func late(err error) bool { return errors.Is(err, errLate) }
