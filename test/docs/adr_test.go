package docs

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// Each decision has a number of its own, the same in its file's name and its heading, and is listed. A page that names a decision
// by its number links to that decision. A number whose decision was removed is not used again.
func TestDecisionsAreNumbered(t *testing.T) {
	files, err := filepath.Glob("../../docs/internals/adr/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no decisions: %v", err)
	}
	index := read(t, "docs/internals/adr/README.md")
	last := 0
	for _, file := range files {
		name := filepath.Base(file)
		if name == "README.md" {
			continue
		}
		var number int
		if _, err := fmt.Sscanf(name, "%04d-", &number); err != nil || number <= last {
			t.Errorf("docs/internals/adr/%s: its number does not follow %d", name, last)
		}
		last = number
		if text := read(t, "docs/internals/adr/"+name); !strings.HasPrefix(text, fmt.Sprintf("# %d. ", number)) {
			t.Errorf("docs/internals/adr/%s: its heading does not begin with its number, %d", name, number)
		}
		if !strings.Contains(index, fmt.Sprintf("| %d | [", number)) || !strings.Contains(index, "("+name+")") {
			t.Errorf("docs/internals/adr/README.md does not list %s", name)
		}
	}
	for _, document := range documents(t) {
		for _, part := range strings.Split(read(t, document), "[ADR ")[1:] {
			var named, linked int
			if _, err := fmt.Sscanf(part, "%d](", &named); err != nil {
				t.Errorf("%s: [ADR %.20s…: %v", document, part, err)
				continue
			}
			_, link, _ := strings.Cut(part, "](")
			if _, err := fmt.Sscanf(filepath.Base(link[:strings.IndexByte(link, ')')]), "%04d-", &linked); err != nil || linked != named {
				t.Errorf("%s: [ADR %d] links to %.50s", document, named, link)
			}
		}
	}
}
