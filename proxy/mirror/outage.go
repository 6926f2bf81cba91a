package mirror

import (
	"errors"
	"time"
)

// outage records whether a target is unreachable. The zero value means that it is reachable.
type outage struct {
	since time.Time
	why   string
	next  time.Time // time of the next attempt
}

// skips reports whether copies are not sent at the moment.
func (a *outage) skips(now time.Time) bool { return a.why != "" && now.Before(a.next) }

// admit reports whether a copy may be sent. While the target is unreachable, it admits one per pause.
func (a *outage) admit(now time.Time, pause time.Duration) bool {
	if a.skips(now) {
		return false
	}
	if a.why != "" {
		a.next = now.Add(pause)
	}
	return true
}

// note records that a copy got no answer.
func (a *outage) note(err error, now time.Time, pause time.Duration) {
	if a.why == "" {
		a.since = now
	}
	a.why, a.next = err.Error(), now.Add(pause)
}

// late reports whether the deadline ended a copy.
func late(err error) bool { return errors.Is(err, errLate) }
