package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The classes are read from where they are listed.
var (
	classed   = regexp.MustCompile("(?m)^\t([a-zA-Z]+): +`([a-z0-9_\\s]+)`,$")
	backquote = regexp.MustCompile("`([a-z0-9_]+)`")
)

var classWords = map[string]string{
	"applied": "applied", "answered": "answered by the proxy", "readOnly": "read-only", "ignored": "ignored", "forbidden": "refused", "equalOnly": "equal only",
}

func TestEveryVariablesClassIsDocumented(t *testing.T) {
	want := map[string][]string{}
	for _, m := range classed.FindAllStringSubmatch(read(t, "proxy/session/variableclass.go"), -1) {
		word := classWords[m[1]]
		want[word] = append(want[word], strings.Fields(m[2])...)
	}
	documented := map[string][]string{}
	for _, r := range tableOf(t, read(t, "docs/sql.md"), "class", "what happens", "variables") {
		for _, m := range backquote.FindAllStringSubmatch(r["variables"], -1) {
			documented[r["class"]] = append(documented[r["class"]], m[1])
		}
	}
	for _, class := range classWords {
		slices.Sort(want[class])
		slices.Sort(documented[class])
		if len(want[class]) == 0 || !slices.Equal(want[class], documented[class]) {
			t.Errorf("%s: the code has %s, docs/sql.md %s", class, strings.Join(want[class], " "), strings.Join(documented[class], " "))
		}
	}
}
