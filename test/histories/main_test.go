package histories

import (
	"fmt"
	"os"
	"testing"

	"locus/internal/test/servers"
)

// childVariable, set, makes this binary a process of the cluster; it holds which.
const childVariable = "LOCUS_TEST_HISTORIES_CHILD"

func TestMain(m *testing.M) {
	if text := os.Getenv(childVariable); text != "" {
		if err := runChild(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	servers.Main(m)
}
