package failover

import (
	"time"
)

// votes is how the proxies see a server.
type votes struct {
	Proxies int // that are registered, whether they have answered or not
	Down    int // that don't reach it, or find it frozen
	Mute    int // that have not answered
	// Silent is for how long each of those had heard nothing of it before they gave it up, at least.
	Silent time.Duration
	Why    string // as one of them says
}

// most tells whether most of the registered proxies don't reach it: one that can't be asked may.
func (v votes) most() bool { return 2*v.Down > v.Proxies }

// perhaps tells whether most of them may not reach it, for all that is known.
func (v votes) perhaps() bool { return 2*(v.Down+v.Mute) > v.Proxies }

// absence is for how long most proxies have not reached a primary, by the clock of who watches. It knows no
// clock and no server.
type absence struct {
	since  time.Time // zero: they reach it, as far as is known
	begins []time.Time
}

const (
	// comings is how often a primary may go away within comingsWithin before that is told.
	comings       = 3
	comingsWithin = time.Minute
)

// note notes what was seen.
func (a *absence) note(now time.Time, v votes) {
	switch {
	case v.most() && !a.since.IsZero():
		return
	case v.most():
	case v.perhaps(): // a question without an answer ends nothing, and begins nothing
		return
	default:
		a.since = time.Time{}
		return
	}
	a.since = now.Add(-v.Silent)
	a.begins = append(a.begins, now)
	for len(a.begins) > 0 && now.Sub(a.begins[0]) > comingsWithin {
		a.begins = a.begins[1:]
	}
}

// lasts is for how long it lasts; 0: most proxies reach it.
func (a *absence) lasts(now time.Time) time.Duration {
	if a.since.IsZero() {
		return 0
	}
	return now.Sub(a.since)
}

// comesAndGoes tells whether it is back each time before anything is done.
func (a *absence) comesAndGoes(now time.Time) bool {
	n := 0
	for _, at := range a.begins {
		if now.Sub(at) <= comingsWithin {
			n++
		}
	}
	return n >= comings
}
