package ids

import (
	"fmt"
	"os"
	"testing"

	"locus/test/cluster"
)

// nodeVariable makes this binary a node that takes numbers. Its value is the node.
const nodeVariable = "LOCUS_TEST_IDS_NODE"

func TestMain(m *testing.M) {
	text := os.Getenv(nodeVariable)
	if text == "" {
		cluster.Main(m, nil)
	}
	if err := runNode(text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
