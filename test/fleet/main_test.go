package fleet

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// older and newer are two versions of the binary.
var older, newer string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "locus-fleet-test-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		for version, binary := range map[string]*string{"1.0.0": &older, "1.1.0": &newer} {
			*binary = filepath.Join(dir, "locus-"+version)
			build := exec.Command("go", "build", "-ldflags", "-X main.version="+version, "-o", *binary, "locus/cmd/locus")
			if out, err := build.CombinedOutput(); err != nil {
				fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
				return 1
			}
		}
		return m.Run()
	}())
}
