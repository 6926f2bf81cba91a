package product

import (
	"testing"
	"time"

	"locus/internal/test/process"
)

// Eventually repeats a check until it succeeds. It waits longer than the checks take: those that run a command
// would otherwise take CPU time from the process that they wait for.
func Eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(process.Patience); ; {
		began := time.Now()
		if holds() {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still not: %s", what)
		}
		<-time.After(max(20*time.Millisecond, 3*time.Since(began)))
	}
}
