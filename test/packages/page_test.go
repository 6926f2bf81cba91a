package packages

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// howto is a page of docs/how-to. Its blocks of commands and statements run in the order of a task, and none is left out.
type howto struct {
	name   string
	blocks []*codeBlock
}

// codeBlock is a fenced block. Its kind is sh, sql, yaml or text. A block of sh or sql runs, unless the word example follows.
type codeBlock struct {
	section string // the nearest heading before it
	kind    string
	example bool
	text    string
	ran     bool
}

// readPage reads a page. A block of an unknown kind is an error, because it would never be run.
func readPage(t *testing.T, name string) *howto {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs/how-to", name))
	if err != nil {
		t.Fatal(err)
	}
	p, section, open := &howto{name: name}, "", (*codeBlock)(nil)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		info, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && open != nil:
			open.text = unindented(open.text)
			p.blocks, open = append(p.blocks, open), nil
		case fence:
			kind, mark, _ := strings.Cut(info, " ")
			open = &codeBlock{section: section, kind: kind, example: mark == "example"}
			if !slices.Contains([]string{"sh", "sql", "yaml", "text"}, kind) || mark != "" && !open.example {
				t.Errorf("%s, %s: a block is marked %q", name, section, info)
			}
		case open != nil:
			open.text += line + "\n"
		case strings.HasPrefix(line, "#"):
			section = strings.TrimSpace(strings.TrimLeft(line, "#"))
		}
	}
	return p
}

// unindented removes the indentation of a block that is part of a list.
func unindented(text string) string {
	indentation := text[:len(text)-len(strings.TrimLeft(text, " "))]
	return strings.ReplaceAll("\n"+text, "\n"+indentation, "\n")[1:]
}

// runnable returns the blocks of a section that run.
func (p *howto) runnable(section string) (found []*codeBlock) {
	for _, b := range p.blocks {
		if b.section == section && !b.example && (b.kind == "sh" || b.kind == "sql") {
			found = append(found, b)
		}
	}
	return found
}

// complete checks that all blocks of the page ran, but examples.
func (p *howto) complete(t *testing.T) {
	t.Helper()
	for _, b := range p.blocks {
		if !b.ran && !b.example && (b.kind == "sh" || b.kind == "sql") {
			t.Errorf("%s, %s: this never runs; a block that is only an example is marked as one:\n%s", p.name, b.section, b.text)
		}
	}
}
