package transfers

import (
	"fmt"
	"os"
	"testing"

	"locus/internal/test/servers"
)

// childVariable, set, makes this binary a proxy; it holds what the proxy is.
const childVariable = "LOCUS_TEST_TRANSFERS_PROXY"

func TestMain(m *testing.M) {
	if text := os.Getenv(childVariable); text != "" {
		if err := serveChild(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	servers.Main(m)
}
