//go:build servers

package lookup

import (
	"testing"

	"locus/test/cluster"
)

func TestMain(m *testing.M) { cluster.Main(m, nil) }
