// Package protocol compares the proxy's packets with a plain server's: both get the same commands, and the answers must be
// equal byte by byte.
package protocol

import (
	"testing"

	"locus/internal/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }
