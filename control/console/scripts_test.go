package console

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestThePagesScripts runs what is tested of them without a browser, by Node's own runner.
func TestThePagesScripts(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("%v: apt-get install nodejs", err)
	}
	files, err := filepath.Glob("testdata/*.test.js")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests of scripts: %v", err)
	}
	if out, err := exec.CommandContext(t.Context(), node, append([]string{"--test"}, files...)...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
