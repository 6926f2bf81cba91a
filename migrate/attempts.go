package migrate

import (
	"time"

	"locus/migrate/phase"
)

// attempts counts consecutive failures of a job's actions. The zero value has seen no failure.
type attempts struct {
	since time.Time // time of the first failure; zero if the last action succeeded
	tries int
	last  phase.Action // the action that failed last
}

// Pauses between attempts. A failed step has paused statements, so the pauses grow. The first ones are short,
// because a transient failure usually passes quickly.
const (
	quickTries   = 5
	quickPause   = time.Second
	longestPause = 30 * time.Second
)

func (a *attempts) reset() { *a = attempts{} }

// succeeded forgets earlier failures. It keeps them after actions that fix nothing: a comparison between two
// attempts of a step, and a comparison that requires another one.
func (a *attempts) succeeded(did phase.Action, event *phase.Event) {
	between := did == phase.Verify && a.last == phase.Advance
	again := event != nil && event.Kind == phase.Differs
	if !between && !again {
		a.reset()
	}
}

// failedAt counts a failure and returns the time since the first consecutive failure.
func (a *attempts) failedAt(did phase.Action, now time.Time) time.Duration {
	if a.since.IsZero() {
		a.since = now
	}
	a.tries++
	a.last = did
	return now.Sub(a.since)
}

// pause returns the time to wait before the next attempt.
func (a *attempts) pause() time.Duration {
	if a.tries <= quickTries {
		return quickPause
	}
	return min(quickPause<<min(a.tries-quickTries, 10), longestPause)
}
