package trust

import (
	"fmt"
	"os"
	"testing"

	"locus/internal/test/servers"
	"locus/test/cluster"
)

func TestMain(m *testing.M) {
	cluster.RunProcess(nil)
	os.Exit(servers.Runner{M: withStands{m}}.Run())
}

// withStands runs the tests, and then ends the shared stands before their servers end.
type withStands struct{ *testing.M }

func (w withStands) Run() int {
	code := w.M.Run()
	for engine, s := range standing {
		for _, failure := range s.lasting.end() {
			fmt.Fprintf(os.Stderr, "the stand of %s: %s\n", engine, failure)
			code = max(code, 1)
		}
	}
	return code
}
