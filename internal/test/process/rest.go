package process

import "time"

const (
	shortestRest = 10 * time.Millisecond
	longestRest  = 250 * time.Millisecond
)

// Rest returns the pause after a check of a condition, given how long the check took. Checks take at most a
// fifth of the time, because more of them would slow down what the test waits for.
func Rest(took time.Duration) time.Duration {
	return min(max(4*took, shortestRest), longestRest)
}
