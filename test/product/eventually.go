package product

import (
	"testing"
	"time"

	"locus/internal/test/process"
)

// Eventually looks until something holds. It rests for longer than its looks take:
// those that run a command would else keep the processors from what they wait for.
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
