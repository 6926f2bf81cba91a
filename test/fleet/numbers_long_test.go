//go:build long

package fleet

import (
	"testing"

	"locus/internal/test/servers"
)

// Two proxies insert a million rows with numbers from the cluster, and one of them is killed twice.
func TestAMillionNumbers(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		f := start(t, engine)
		f.numbers(1_000_000, 500)
		f.noSecretIsTold()
	})
}
