package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"locus/proxy/sysvars"
)

var backquote = regexp.MustCompile("`([a-z0-9_]+)`")

func TestEveryVariablesClassIsDocumented(t *testing.T) {
	want := map[string][]string{}
	for name, class := range sysvars.All() {
		want[class.String()] = append(want[class.String()], name)
	}
	documented := map[string][]string{}
	for _, r := range tableOf(t, read(t, "docs/reference/session-variables.md"), "class", "what happens", "variables") {
		for _, m := range backquote.FindAllStringSubmatch(r["variables"], -1) {
			documented[r["class"]] = append(documented[r["class"]], m[1])
		}
	}
	if len(want) != 6 || len(documented) != len(want) {
		t.Errorf("the code has %d classes, docs/reference/session-variables.md %d", len(want), len(documented))
	}
	for class := range want {
		slices.Sort(want[class])
		slices.Sort(documented[class])
		if !slices.Equal(want[class], documented[class]) {
			t.Errorf("%s: the code has %s, docs/reference/session-variables.md %s", class, strings.Join(want[class], " "), strings.Join(documented[class], " "))
		}
	}
}
