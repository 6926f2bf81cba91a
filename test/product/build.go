package product

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Main builds versions of the binary, puts the path of each where it is wanted, and
// runs the tests. It gives the status to exit with.
func Main(m *testing.M, versions map[string]*string) int {
	dir, err := os.MkdirTemp("", "locus-product-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	for version, binary := range versions {
		*binary = filepath.Join(dir, "locus-"+version)
		build := exec.Command("go", "build", "-ldflags", "-X main.version="+version, "-o", *binary, "locus/cmd/locus")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
			return 1
		}
	}
	return m.Run()
}
