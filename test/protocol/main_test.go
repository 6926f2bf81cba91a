// Package protocol holds the proxy's packets to those of a plain server: the
// same commands are sent to both, and the answers compared byte by byte.
package protocol

import (
	"testing"

	"locus/internal/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }
