// Package session holds what the proxy answers of itself and of its sessions, and
// the state that a session keeps, to what one plain server does.
package session

import (
	"testing"

	"locus/internal/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }
