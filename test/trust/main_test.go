package trust

import (
	"testing"

	"locus/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }
