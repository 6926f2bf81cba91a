package health

import (
	"errors"
	"fmt"
	"time"
)

const (
	// every is between two probes of a server.
	every = time.Second
	// late is how long a probe may be without an answer.
	late = time.Second
	// patience is when it is given up, and its connection with it: the next one goes over another, as a network that has
	// healed may not bring the old one back for long.
	patience = 2 * time.Second
	// steady is how many probes in a row a server answers that was frozen or away, before it is well: one that comes and
	// goes is not chosen.
	steady = 2
)

// FrozenError is why nothing is sent to a server that is frozen, and why what was under way there was ended.
type FrozenError struct{ Silent time.Duration }

func (e *FrozenError) Error() string {
	return fmt.Sprintf("it has answered no probe and sent no byte for %v. While it is frozen it is asked every second; look at its machine, its disks and the network", e.Silent.Round(100*time.Millisecond))
}

// Frozen tells who can't name the type.
func (e *FrozenError) Frozen() bool { return true }

// errLate is why a server is slow whose probe has no answer yet.
var errLate = fmt.Errorf("a probe has had no answer for %v", late)

var errBack = errors.New("it has only just come back")

// tracker makes one server's state out of what is heard of it. It knows no clock, no connection and no lock.
type tracker struct {
	stall time.Duration

	state State
	why   error
	since time.Time // of the state

	sent   time.Time // of the probe under way; zero: none is
	silent bool      // the last probe had no answer
	sign   time.Time // the last of life: an answer, a byte, a refusal
	down   bool      // it was frozen or away, and has not answered often enough since
	row    int       // probes answered in a row
	took   time.Duration
}

// newTracker is of a server of which nothing is known yet. It is taken to be well: a proxy that starts refuses nothing.
func newTracker(now time.Time, stall time.Duration) tracker {
	return tracker{stall: stall, since: now, sign: now}
}

// begin notes that a probe was sent.
func (t *tracker) begin(now time.Time) { t.sent = now }

// found notes what came of it.
func (t *tracker) found(now time.Time, r Report) {
	t.took = now.Sub(t.sent)
	t.sent, t.silent = time.Time{}, r.Finding == Silent
	if r.Finding == Answers {
		t.row++
	} else {
		t.row = 0
	}
	if !t.silent {
		t.sign = now
	}
	switch r.Finding {
	case Answers:
		t.answered(now, r)
	case Full:
		t.be(now, Slow, r.Err)
	case Refuses:
		t.be(now, Away, r.Err)
	case Silent:
		if !t.state.Down() {
			t.be(now, Slow, r.Err)
		}
	}
}

func (t *tracker) answered(now time.Time, r Report) {
	t.down = t.down && t.row < steady
	switch {
	case t.down:
		t.be(now, Slow, errBack)
	case t.took > late:
		t.be(now, Slow, fmt.Errorf("a probe was answered after %v", t.took.Round(time.Millisecond)))
	case r.ReadOnly:
		t.be(now, ReadOnly, nil)
	default:
		t.be(now, Well, nil)
	}
}

// heard notes that bytes have come over connections that statements have. They don't end a freeze: what they were the answer to
// was given up.
func (t *tracker) heard(now time.Time) { t.sign = now }

// pass notes that time has passed.
func (t *tracker) pass(now time.Time) {
	if !t.isLate(now) && !t.silent {
		return
	}
	switch quiet := now.Sub(t.sign); {
	case t.state == Frozen:
	case quiet >= t.stall:
		t.be(now, Frozen, &FrozenError{quiet})
	case t.isLate(now) && !t.state.Down() && t.state != Slow:
		t.be(now, Slow, errLate)
	}
}

// isLate tells whether the probe under way should have been answered.
func (t *tracker) isLate(now time.Time) bool { return !t.sent.IsZero() && now.Sub(t.sent) >= late }

// overdue tells that neither a probe nor anybody else has had an answer for a while, so that who can ask another server is
// better off with that.
func (t *tracker) overdue(now time.Time) bool {
	return t.state == Slow && (t.isLate(now) || t.silent) && now.Sub(t.sign) >= late
}

// forgive takes a time out of the account in which the observer itself did not run: nobody is to blame for that.
func (t *tracker) forgive(d time.Duration) {
	t.sign = t.sign.Add(d)
	if !t.sent.IsZero() {
		t.sent = t.sent.Add(d)
	}
}

func (t *tracker) be(now time.Time, s State, why error) {
	t.down = t.down || s.Down()
	t.why = why
	if t.state != s {
		t.state, t.since = s, now
	}
}
