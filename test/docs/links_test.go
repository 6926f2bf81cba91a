package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every link of a document leads to a file of this repository, and to a heading
// in it where it names one.
func TestLinksLeadSomewhere(t *testing.T) {
	for _, document := range documents(t) {
		for _, link := range links(read(t, document)) {
			path, anchor, _ := strings.Cut(link, "#")
			target := document
			if path != "" {
				target = filepath.Join(filepath.Dir(document), path)
			}
			if _, err := filepath.EvalSymlinks(filepath.Join("../..", target)); err != nil {
				t.Errorf("%s links to %s: %v", document, link, err)
				continue
			}
			if anchor != "" && !slices.Contains(anchors(read(t, target)), anchor) {
				t.Errorf("%s links to %s, and %s has no such heading", document, link, target)
			}
		}
	}
}

// Every page is reached by links from the index.
func TestEveryPageIsReached(t *testing.T) {
	reached := map[string]bool{"docs/index.md": true}
	for next := []string{"docs/index.md"}; len(next) > 0; {
		page := next[0]
		next = next[1:]
		for _, link := range links(read(t, page)) {
			path, _, _ := strings.Cut(link, "#")
			target := filepath.Join(filepath.Dir(page), path)
			if strings.HasSuffix(path, ".md") && !reached[target] {
				reached[target] = true
				next = append(next, target)
			}
		}
	}
	for _, document := range documents(t) {
		if strings.HasPrefix(document, "docs/") && !reached[document] {
			t.Errorf("no link leads from docs/index.md to %s", document)
		}
	}
}

// Documents that code, messages and configurations name exist.
func TestNamedDocumentsExist(t *testing.T) {
	named := 0
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".") && entry.Name() != "..") {
			return filepath.SkipDir
		}
		if !slices.Contains([]string{".go", ".yaml", ".sql", ".cnf", ".service", ".sh", ".txt", ".mjs", ".work", ""}, filepath.Ext(path)) || entry.IsDir() {
			return nil
		}
		for _, document := range regexp.MustCompile(`(?m)(?:^|[^/\w])(?:\.\./)*(docs/[A-Za-z0-9_./-]+\.(?:md|txt|svg))`).FindAllStringSubmatch(contents(t, path), -1) {
			named++
			if _, err := os.Stat(filepath.Join("../..", document[1])); err != nil {
				t.Errorf("%s names %s: %v", path, document[1], err)
			}
		}
		return nil
	})
	if err != nil || named < 20 {
		t.Errorf("%d documents are named, %v", named, err)
	}
}

func documents(t *testing.T) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".") && entry.Name() != "..") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".md") {
			relative, err := filepath.Rel("../..", path)
			found = append(found, relative)
			return err
		}
		return nil
	})
	if err != nil || len(found) == 0 {
		t.Fatal("no documents", err)
	}
	return found
}

// links are the targets of a document's links that stay in the repository.
func links(document string) []string {
	var found []string
	for _, part := range strings.Split(document, "](")[1:] {
		target, _, ok := strings.Cut(part, ")")
		if ok && !strings.ContainsAny(target, " \n") && !strings.Contains(target, "://") {
			found = append(found, target)
		}
	}
	return found
}

// anchors are a document's headings as links name them.
func anchors(document string) []string {
	var found []string
	for line := range strings.Lines(document) {
		heading := strings.TrimLeft(line, "#")
		if heading == line || !strings.HasPrefix(heading, " ") {
			continue
		}
		var b strings.Builder
		for _, c := range strings.ToLower(strings.TrimSpace(heading)) {
			switch {
			case c == ' ':
				b.WriteByte('-')
			case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_':
				b.WriteRune(c)
			}
		}
		found = append(found, b.String())
	}
	return found
}
