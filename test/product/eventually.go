package product

import (
	"testing"
	"time"

	"locus/test/process"
)

// Eventually looks until something holds.
func Eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(process.Patience); !holds(); <-ticker.C {
		if time.Now().After(deadline) {
			t.Fatalf("still not: %s", what)
		}
	}
}
