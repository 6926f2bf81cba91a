package docs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// row is a line of a table, by the head of its column.
type row map[string]string

// read is a document of this repository, by its path from the root.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// tableOf finds the one table of a document whose head is these columns. A
// table that was renamed or emptied is a failure, so that no check passes for
// want of something to check.
func tableOf(t *testing.T, document string, head ...string) []row {
	t.Helper()
	var rows []row
	found := false
	lines := strings.Split(document, "\n")
	for i := 0; i < len(lines); i++ {
		if !slices.Equal(cells(lines[i]), head) {
			continue
		}
		if found {
			t.Fatalf("two tables have the head %q", head)
		}
		found = true
		for i += 2; i < len(lines) && strings.HasPrefix(lines[i], "|"); i++ {
			rows = append(rows, rowOf(t, head, lines[i]))
		}
	}
	if len(rows) == 0 {
		t.Fatalf("no table with rows has the head %q", head)
	}
	return rows
}

func rowOf(t *testing.T, head []string, line string) row {
	t.Helper()
	values := cells(line)
	if len(values) != len(head) {
		t.Fatalf("%d cells under %d columns: %s", len(values), len(head), line)
	}
	r := row{}
	for i, name := range head {
		r[name] = values[i]
	}
	return r
}

// cells are a table line's, nil for another line. A bar within code is written
// as \|, as the renderers require.
func cells(line string) []string {
	if !strings.HasPrefix(line, "|") || !strings.HasSuffix(line, "|") || len(line) < 2 {
		return nil
	}
	const bar = "\x00"
	line = strings.ReplaceAll(line[1:len(line)-1], `\|`, bar)
	var out []string
	for cell := range strings.SplitSeq(line, "|") {
		out = append(out, strings.TrimSpace(strings.ReplaceAll(cell, bar, "|")))
	}
	return out
}

// code is a cell without its backticks.
func code(cell string) string { return strings.Trim(cell, "`") }

// blocks are the fenced blocks of a language.
func blocks(document, language string) (all []string) {
	for i, part := range strings.Split(document, "```"+language+"\n") {
		if text, _, _ := strings.Cut(part, "\n```"); i > 0 {
			all = append(all, text+"\n")
		}
	}
	return all
}

// block is the first fenced block of a language that begins with that text.
func block(t *testing.T, document, language, begins string) string {
	t.Helper()
	for _, text := range blocks(document, language) {
		if strings.HasPrefix(text, begins) {
			return text
		}
	}
	t.Fatalf("no %s block begins with %q", language, begins)
	return ""
}
