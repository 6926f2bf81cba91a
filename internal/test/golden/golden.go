// Package golden rewrites golden files: files that contain what a test expects, such as the plans of statements or the output of a command.
// It owns the flag -update of the tests that have such files. The comparison belongs to the test.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Updating reports whether this run rewrites golden files.
func Updating() bool { return *update }

// Update writes the text to a golden file if this run rewrites golden files, and reports whether it did.
func Update(t testing.TB, path, text string) bool {
	t.Helper()
	if !*update {
		return false
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // the directory is part of the tree
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil { //nolint:gosec // the file is part of the tree
		t.Fatal(err)
	}
	return true
}
