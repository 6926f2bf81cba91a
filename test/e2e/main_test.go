// Package e2e runs applications' statements through a proxy to real servers.
package e2e

import (
	"testing"

	"locus/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }
