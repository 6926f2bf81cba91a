package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const architectureDocument = "docs/architecture.md"

// A file that a step names exists: in the directory that it is written with, or
// in that of the file before it.
func TestStepsNameFiles(t *testing.T) {
	steps := 0
	for line := range strings.Lines(read(t, architectureDocument)) {
		c := cells(strings.TrimSuffix(line, "\n"))
		if len(c) != 2 || !strings.Contains(c[1], ".go`") {
			continue
		}
		steps++
		directory := ""
		for name := range strings.SplitSeq(c[1], ", ") {
			name = code(name)
			if strings.Contains(name, "/") {
				directory = filepath.Dir(name)
			} else {
				name = filepath.Join(directory, name)
			}
			if _, err := os.Stat(filepath.Join("../..", name)); err != nil {
				t.Error(fmt.Errorf("%q: %w", c[0], err))
			}
		}
	}
	if steps == 0 {
		t.Error("no step names a file")
	}
}

func TestTestDirectoriesAreListed(t *testing.T) {
	listed := map[string]bool{}
	for _, r := range tableOf(t, read(t, architectureDocument), "directory", "what") {
		listed[code(r["directory"])] = true
	}
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := "test/" + e.Name(); e.IsDir() && !listed[name] {
			t.Errorf("%s is not listed", name)
		}
	}
}
