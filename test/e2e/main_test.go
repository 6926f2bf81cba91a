// Package e2e runs applications' statements through a proxy to real servers.
package e2e

import (
	"os"
	"testing"

	"locus/internal/test/servers"
)

func TestMain(m *testing.M) {
	if os.Getenv(crowdVariable) != "" { // this process is a test's crowd of clients
		os.Exit(crowd())
	}
	servers.Main(m)
}
