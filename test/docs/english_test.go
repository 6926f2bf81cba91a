package docs

import (
	"regexp"
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
}

// english returns the pages whose words are checked. Generated pages have the words of their sources, and decisions keep
// those of their time.
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

// quoted matches the quotations of a line: code, and the targets of links.
var quoted = regexp.MustCompile("`[^`]*`|\\]\\([^)]*\\)")
