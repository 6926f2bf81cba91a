package exec

import (
	"os"
	"testing"

	"locus/internal/test/parallel"
)

func TestMain(m *testing.M) {
	parallel.Raise()
	os.Exit(m.Run())
}
