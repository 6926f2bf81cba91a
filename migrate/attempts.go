package migrate

import (
	"time"

	"locus/migrate/phase"
)

// attempts counts how often a job's actions have failed in a row. The zero value has seen no failure.
type attempts struct {
	since time.Time // of the first failure; zero: the last action succeeded
	tries int
	last  phase.Action // that failed
}

// Pauses between attempts. A step that fails has held statements, so they grow: what passes by itself mostly passes at once.
const (
	quickTries   = 5
	quickPause   = time.Second
	longestPause = 30 * time.Second
)

func (a *attempts) reset() { *a = attempts{} }

// succeeded forgets earlier failures. It keeps them where the action mended nothing: a comparison between two attempts of a
// step, and one that asks for another comparison.
func (a *attempts) succeeded(did phase.Action, event *phase.Event) {
	between := did == phase.Verify && a.last == phase.Advance
	again := event != nil && event.Kind == phase.Differs
	if !between && !again {
		a.reset()
	}
}

// failedAt counts a failure and returns for how long actions have failed.
func (a *attempts) failedAt(did phase.Action, now time.Time) time.Duration {
	if a.since.IsZero() {
		a.since = now
	}
	a.tries++
	a.last = did
	return now.Sub(a.since)
}

// pause is how long to wait before the next attempt.
func (a *attempts) pause() time.Duration {
	if a.tries <= quickTries {
		return quickPause
	}
	return min(quickPause<<min(a.tries-quickTries, 10), longestPause)
}
