// Package session compares with one plain server what the proxy answers about itself and its sessions, and the
// state that a session keeps.
package session

import (
	"testing"

	"locus/internal/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }
