package docs

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// idioms maps words that documents don't use to their replacements.
var idioms = map[string]string{
	"anew":           "again",
	"amid":           "during",
	"beside":         "next to, in addition to",
	"giver":          "source",
	"mend":           "fix, repair",
	"mended":         "fixed, repaired",
	"mends":          "fixes, repairs",
	"once more":      "again",
	"ended to":       "stopped",
	"gone by":        "applied",
	"has come to":    "has reached",
	"stopped to":     "stopped applying",
	"told of":        "notified",
	"who asks":       "the caller",
	"whoever":        "the process, the user",
	"way back":       "rollback, reverse stream",
	"stands still":   "stops",
	"under way":      "in progress",
	"on the average": "on average",
	"hold to it":     "enforce it",
	"comes and goes": "is unstable",
	"as was ordered": "as requested",
}

// unusual are words that neither comments nor messages have.
var unusual = regexp.MustCompile(`\b(anew|amid|whoever|told of|tells of|way back|stopped to|ended to|gone by|comes and goes|as was ordered|hold to it|on the average)\b`)

// english returns the pages whose words are checked. Generated pages have the words of their sources, and decisions keep the
// words of their time.
func english(t *testing.T) (pages []string) {
	t.Helper()
	for _, path := range documents(t) {
		generated := path == "docs/reference/cli.md" || path == "docs/reference/performance.md" || path == configurationDocument
		if strings.HasPrefix(path, "docs/") && !strings.HasPrefix(path, "docs/internals/adr/0") && !generated || path == "README.md" || path == "CHANGELOG.md" {
			pages = append(pages, path)
		}
	}
	return pages
}

// The documents are written in plain English.
func TestPlainEnglish(t *testing.T) {
	pages := english(t)
	if len(pages) < 50 {
		t.Errorf("only %d pages are checked", len(pages))
	}
	for _, path := range pages {
		fenced := false
		for line := range strings.Lines(read(t, path)) {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				fenced = !fenced
			}
			if fenced {
				continue
			}
			line = strings.ToLower(quoted.ReplaceAllString(line, ""))
			for idiom, instead := range idioms {
				if regexp.MustCompile(`\b` + idiom + `\b`).MatchString(line) {
					t.Errorf("%s: %q in %.100q: use %s", path, idiom, line, instead)
				}
			}
		}
	}
}

// The comments of all Go files, and the messages of those that ship, are written in plain English.
func TestPlainComments(t *testing.T) {
	var files []string
	err := fs.WalkDir(os.DirFS("../.."), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"bin", "dist", "testdata", "node_modules"}, d.Name())):
			return fs.SkipDir
		case strings.HasSuffix(path, ".go"):
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 1000 {
		t.Errorf("only %d files are checked", len(files))
	}
	for _, path := range files {
		source, err := os.ReadFile("../../" + path)
		if err != nil {
			t.Fatal(err)
		}
		ships := !strings.HasSuffix(path, "_test.go") && !strings.HasPrefix(path, "test/")
		for _, text := range prose(source, ships) {
			if found := unusual.FindString(text); found != "" {
				t.Errorf("%s: %q in %.100q", path, found, text)
			}
		}
	}
}

// prose returns the comments of a Go file, and on request its strings.
func prose(source []byte, withStrings bool) (texts []string) {
	files := token.NewFileSet()
	var s scanner.Scanner
	s.Init(files.AddFile("", files.Base(), len(source)), source, nil, scanner.ScanComments)
	for {
		switch _, kind, text := s.Scan(); {
		case kind == token.EOF:
			return texts
		case kind == token.COMMENT, kind == token.STRING && withStrings:
			texts = append(texts, text)
		}
	}
}

// quoted matches the quotations of a line: code, and the targets of links.
var quoted = regexp.MustCompile("`[^`]*`|\\]\\([^)]*\\)")
