package report

import (
	"strings"
	"testing"

	"locus/test/suites/stand"
)

func TestJUnit(t *testing.T) {
	got, err := parseJUnit(strings.NewReader(`<?xml version="1.0"?><testsuites><testsuite name="outer"><testsuite>
		<testcase classname="a.B" name="fine"/>
		<testcase classname="a.B" name="wrong"><failure message="short">at length</failure></testcase>
		<testcase classname="a.B" name="broken"><error message="short"/></testcase>
		<testcase classname="a.B" name="left"><skipped message="why"/></testcase>
		<testcase classname="a.B" name="twice"><failure message="first"/></testcase>
		<testcase classname="a.B" name="twice"/>
	</testsuite></testsuite></testsuites>`), func(class, name string) string { return class + "." + name })
	if err != nil {
		t.Fatal(err)
	}
	want := stand.Outcomes{
		"a.B.fine": {State: stand.Passed}, "a.B.wrong": {State: stand.Failed, Detail: "at length"},
		"a.B.broken": {State: stand.Failed, Detail: "short"}, "a.B.left": {State: stand.Skipped, Detail: "why"},
		"a.B.twice": {State: stand.Failed, Detail: "first"},
	}
	for name, outcome := range want {
		if got[name] != outcome {
			t.Errorf("%s: %v, want %v", name, got[name], outcome)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d cases, want %d", len(got), len(want))
	}
}

func TestJUnitReportWithoutAnEnd(t *testing.T) {
	if _, err := parseJUnit(strings.NewReader(`<testsuite><testcase name="a"/>`), func(_, name string) string { return name }); err == nil {
		t.Error("a report without an end is taken")
	}
}
