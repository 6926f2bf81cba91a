package failover

import (
	"time"
)

// votes counts how the proxies see one server.
type votes struct {
	Proxies int // registered proxies, including those that did not answer
	Down    int // proxies that can't reach the server, or find it unresponsive
	Mute    int // proxies that did not answer
	// Silent is the shortest time without an answer from the server after which one of the Down proxies gave it
	// up.
	Silent time.Duration
	Why    string // the reason that one of the Down proxies reports
}

// most reports whether more than half of the registered proxies can't reach the server. A proxy that did not
// answer counts as reaching it.
func (v votes) most() bool { return 2*v.Down > v.Proxies }

// perhaps reports whether more than half of the registered proxies may be unable to reach the server. A proxy
// that did not answer counts as not reaching it.
func (v votes) perhaps() bool { return 2*(v.Down+v.Mute) > v.Proxies }

// absence tracks how long most proxies have been unable to reach a primary. The caller passes the time in, so
// that absence needs neither a clock nor a server.
type absence struct {
	since  time.Time // start of the current absence; zero if most proxies reach the primary
	begins []time.Time
}

const (
	// comings is the number of absences within comingsWithin from which a primary is reported as flapping.
	comings       = 3
	comingsWithin = time.Minute
)

// note records one result of the votes.
func (a *absence) note(now time.Time, v votes) {
	switch {
	case v.most() && !a.since.IsZero():
		return
	case v.most():
	case v.perhaps(): // unanswered questions neither start nor end an absence
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

// lasts returns the length of the current absence, or 0 if most proxies reach the primary.
func (a *absence) lasts(now time.Time) time.Duration {
	if a.since.IsZero() {
		return 0
	}
	return now.Sub(a.since)
}

// comesAndGoes reports whether the primary is flapping: it was absent several times, and returned each time
// before a failover.
func (a *absence) comesAndGoes(now time.Time) bool {
	n := 0
	for _, at := range a.begins {
		if now.Sub(at) <= comingsWithin {
			n++
		}
	}
	return n >= comings
}
