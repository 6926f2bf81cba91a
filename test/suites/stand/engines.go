package stand

import (
	"testing"

	"locus/test/servers"
)

// Engines runs a suite on every engine in the long form, and on one in the short:
// on which is told, such that the clients of each language have all engines
// between them. What one engine answers otherwise is compared by other tests on
// both each time.
func Engines(t *testing.T, short servers.Engine, test func(*testing.T, servers.Engine)) {
	t.Helper()
	if all {
		servers.Engines(t, test)
		return
	}
	t.Run(string(short), func(t *testing.T) { test(t, short) })
}
