package stand

import (
	"slices"
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	passed, failed, skipped := Outcome{State: Passed}, Outcome{State: Failed, Detail: "why"}, Outcome{State: Skipped}
	one, two := Outcome{State: Passed, Result: "one"}, Outcome{State: Passed, Result: "two"}
	for _, c := range []struct {
		name          string
		direct, proxy Outcomes
		exceptions    Exceptions
		want          []string // a part of each complaint
	}{
		{"all pass", Outcomes{"a": passed}, Outcomes{"a": passed}, nil, nil},
		{"fails directly", Outcomes{"a": passed, "b": failed}, Outcomes{"a": passed, "b": failed}, nil, nil},
		{"fails directly alone", Outcomes{"a": passed, "b": failed}, Outcomes{"a": passed, "b": passed}, nil, nil},
		{"fails through the proxy", Outcomes{"a": passed, "b": passed}, Outcomes{"a": passed, "b": failed}, nil, []string{"b passes directly and is failed through the proxy: why"}},
		{"skipped through the proxy", Outcomes{"a": passed}, Outcomes{"a": skipped}, nil, []string{"a passes directly and is skipped"}},
		{"lost through the proxy", Outcomes{"a": passed}, Outcomes{}, nil, []string{"a passes directly and is not run"}},
		{"same result", Outcomes{"a": one}, Outcomes{"a": one}, nil, nil},
		{"another result", Outcomes{"a": one}, Outcomes{"a": two}, nil, []string{"a has another result through the proxy:\n\tdirect one\n\tproxy  two"}},
		{"another result, excepted", Outcomes{"a": one}, Outcomes{"a": two}, Exceptions{"a": "so"}, nil},
		{"excepted", Outcomes{"a": passed, "b": passed}, Outcomes{"a": passed, "b": failed}, Exceptions{"b": "so"}, nil},
		{"stale", Outcomes{"a": passed}, Outcomes{"a": passed}, Exceptions{"a": "so"}, []string{"exception a passes"}},
		{"not the proxy's", Outcomes{"a": passed, "b": failed}, Outcomes{"a": passed, "b": failed}, Exceptions{"b": "so"}, []string{"exception b is failed directly"}},
		{"unknown", Outcomes{"a": passed}, Outcomes{"a": passed}, Exceptions{"c": "so"}, []string{"exception c: no case"}},
		{"nothing ran", Outcomes{"a": skipped}, Outcomes{"a": skipped}, nil, []string{"no case passes directly"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := compare(c.direct, c.proxy, c.exceptions)
			if !slices.EqualFunc(got, c.want, strings.Contains) {
				t.Errorf("complaints %q, want %q", got, c.want)
			}
		})
	}
}

func TestExceptionsAreRead(t *testing.T) {
	x := Exceptions{}
	if err := x.read("# a comment\n\nTestA/sub case\tfor a reason\n"); err != nil {
		t.Fatal(err)
	}
	if len(x) != 1 || x["TestA/sub case"] != "for a reason" {
		t.Errorf("exceptions %q", x)
	}
	for _, bad := range []string{"TestB\n", "TestB\t \n", "TestA/sub case\tagain\n"} {
		if x.read(bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
