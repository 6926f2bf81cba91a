package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const architectureDocument = "docs/architecture.md"

var standing = regexp.MustCompile(`(?m)^\t\{pkg: "([^"]+)", floor: ([a-z0-9.]+)`)

// The floors that are drawn are those that the imports are held to.
func TestFloorsAreDrawn(t *testing.T) {
	drawn := block(t, read(t, architectureDocument), "", "6 ")
	building := standing.FindAllStringSubmatch(read(t, "test/floors/table_test.go"), -1)
	if len(building) == 0 {
		t.Fatal("no line of test/floors/table_test.go is understood")
	}
	for _, s := range building {
		pkg, floor := s[1], s[2]
		if floor == "beside" {
			floor = "beside:"
		}
		at := "nowhere"
		for line := range strings.Lines(drawn) {
			if words := strings.Fields(line); slices.Contains(words[1:], pkg) {
				at = words[0]
				break
			}
		}
		if at != floor {
			t.Errorf("%s stands on floor %s and is drawn on %s", pkg, floor, at)
		}
	}
}

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
