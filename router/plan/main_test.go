package plan

import (
	"flag"
	"os"
	"testing"

	"locus/internal/test/scale"
)

func TestMain(m *testing.M) {
	flag.Parse()
	scale.FewerChecks()
	os.Exit(m.Run())
}
