package process

import "time"

const (
	shortestRest = 10 * time.Millisecond
	longestRest  = 250 * time.Millisecond
)

// Rest returns how long to pause after a check of a condition, given the duration of the check. Checks take at most a fifth of
// the time, so that they don't slow down the condition that the test waits for.
func Rest(took time.Duration) time.Duration {
	return min(max(4*took, shortestRest), longestRest)
}
