//go:build long

package transfers

import (
	"testing"

	"locus/internal/test/servers"
)

func TestTransfersAreWholeOrNotAtAllForLong(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) { transfersSurvive(t, engine, 20) })
}
