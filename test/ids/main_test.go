package ids

import (
	"fmt"
	"os"
	"testing"

	"locus/internal/test/servers"
)

// Set, they make this binary a node that takes numbers, or an etcd.
const (
	nodeVariable = "LOCUS_TEST_IDS_NODE"
	etcdVariable = "LOCUS_TEST_IDS_ETCD"
)

func TestMain(m *testing.M) {
	var err error
	switch {
	case os.Getenv(nodeVariable) != "":
		err = runNode(os.Getenv(nodeVariable))
	case os.Getenv(etcdVariable) != "":
		err = runEtcd(os.Getenv(etcdVariable))
	default:
		servers.Main(m)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
