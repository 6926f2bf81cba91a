// Package session compares the proxy's answers about itself and its sessions, and the state that a session keeps, with those
// of one plain server.
package session

import (
	"testing"

	"locus/internal/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }
