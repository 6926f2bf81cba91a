package docs

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// Each decision has a number of its own, one after the other, the same in its file's name and its heading; and who names a decision
// by its number links to that one.
func TestDecisionsAreNumbered(t *testing.T) {
	files, err := filepath.Glob("../../docs/adr/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no decisions: %v", err)
	}
	for i, file := range files {
		name := filepath.Base(file)
		if want := fmt.Sprintf("%04d-", i+1); !strings.HasPrefix(name, want) {
			t.Errorf("docs/adr/%s: its number should be %s", name, want)
		}
		if text := read(t, "docs/adr/"+name); !strings.HasPrefix(text, fmt.Sprintf("# %d. ", i+1)) {
			t.Errorf("docs/adr/%s: its heading should begin with its number, %d", name, i+1)
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
