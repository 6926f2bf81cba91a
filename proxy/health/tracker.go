package health

import (
	"errors"
	"fmt"
	"time"
)

const (
	// every is the interval between a server's probes.
	every = time.Second
	// late is how long a probe may lack an answer before it is late.
	late = time.Second
	// patience is the time limit of a probe, after which its connection is closed. The next probe uses another connection,
	// because a recovered network may revive the old one only after a long time.
	patience = 2 * time.Second
	// steady is the number of consecutive probes that a server must answer after it was frozen or away, before it counts as
	// healthy. So a flapping server isn't chosen.
	steady = 2
)

// FrozenError is the reason why nothing is sent to a frozen server and why its running statements were ended.
type FrozenError struct{ Silent time.Duration }

func (e *FrozenError) Error() string {
	return fmt.Sprintf("it has answered no probe and sent no byte for %v. While it is frozen, it is probed every second; check its machine, its disks and the network", e.Silent.Round(100*time.Millisecond))
}

// Frozen identifies the error to packages that can't import its type.
func (e *FrozenError) Frozen() bool { return true }

// errLate is why a server with an unanswered probe is slow.
var errLate = fmt.Errorf("a probe has had no answer for %v", late)

var errBack = errors.New("it has only just come back")

// tracker computes the state of one server from events. It uses no clock, connection or lock.
type tracker struct {
	stall time.Duration

	state State
	why   error
	since time.Time // start of the state

	sent   time.Time // time of the running probe; zero if there is none
	silent bool      // the last probe had no answer
	sign   time.Time // the last sign of life: an answer, a byte or a refusal
	down   bool      // the server was frozen or away, and has not answered often enough since
	row    int       // consecutive answered probes
	took   time.Duration
}

// newTracker returns the tracker of a server about which nothing is known. It counts as well, so that a starting proxy refuses
// nothing.
func newTracker(now time.Time, stall time.Duration) tracker {
	return tracker{stall: stall, since: now, sign: now}
}

// begin records that a probe was sent.
func (t *tracker) begin(now time.Time) { t.sent = now }

// found records a probe's result.
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

// heard records bytes received on connections that run statements. These bytes don't end a freeze: they answer statements
// whose sessions already got an error.
func (t *tracker) heard(now time.Time) { t.sign = now }

// pass records the passing of time.
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

// isLate reports whether the running probe should have been answered.
func (t *tracker) isLate(now time.Time) bool { return !t.sent.IsZero() && now.Sub(t.sent) >= late }

// overdue reports whether neither a probe nor any connection has had an answer for a while. A request that another server can
// answer should then go there.
func (t *tracker) overdue(now time.Time) bool {
	return t.state == Slow && (t.isLate(now) || t.silent) && now.Sub(t.sign) >= late
}

// forgive excludes a time during which this process itself did not run.
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
