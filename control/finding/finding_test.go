package finding

import (
	"encoding/json"
	"errors"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// Measurements don't change the identity of a finding; everything else does.
func TestIdentity(t *testing.T) {
	full := func(place string, free int, took time.Duration, at time.Time, err error, m Measure) string {
		return New(AtRisk, "disk", place, "make room", "%d GiB are free after %v since %v: %v (%s)", free, took, at, err, m).ID
	}
	first := full("s0", 9, time.Second, noon, errors.New("full"), "a")
	if again := full("s0", 1, time.Hour, noon.Add(time.Hour), errors.New("full"), "b"); again != first {
		t.Errorf("measurements changed it: %s, %s", first, again)
	}
	for what, other := range map[string]string{
		"the place": full("s1", 9, time.Second, noon, errors.New("full"), "a"),
		"the error": full("s0", 9, time.Second, noon, errors.New("gone"), "a"),
		"the check": New(AtRisk, "log", "s0", "", "x").ID,
	} {
		if other == first {
			t.Errorf("%s does not change it", what)
		}
	}
	if New(Advice, "a", "b", "", "%s", "x").ID != New(Outage, "a", "b", "another", "%s", "x").ID {
		t.Error("the severity and the remedy change it")
	}
}

func TestSummary(t *testing.T) {
	known := New(Outage, "c", "d", "", "x")
	known.Acknowledged = &Acknowledgement{}
	for _, test := range []struct {
		list    []Finding
		want    string
		healthy bool
	}{
		{nil, "healthy", true},
		{[]Finding{New(Advice, "a", "", "", "")}, "healthy, 1 piece of advice", true},
		{[]Finding{known}, "healthy, 1 acknowledged finding", true},
		{[]Finding{New(AtRisk, "a", "", "", ""), New(Advice, "a", "", "", ""), New(Advice, "b", "", "", ""), known}, "1 risk, 2 pieces of advice, 1 acknowledged finding", false},
		{[]Finding{New(Outage, "a", "", "", ""), New(Outage, "b", "", "", ""), New(AtRisk, "a", "", "", "")}, "2 outages, 1 risk", false},
	} {
		if s := Summarize(test.list); s.String() != test.want || s.Healthy() != test.healthy {
			t.Errorf("%q, healthy: %v; want %q", s, s.Healthy(), test.want)
		}
	}
}

// Open findings come first, and more severe ones before less severe ones. Duplicates are removed.
func TestSort(t *testing.T) {
	known := New(Outage, "a", "z", "", "known")
	known.Acknowledged = &Acknowledgement{}
	var got string
	for _, f := range Sort([]Finding{known, New(Advice, "a", "1", "", ""), New(Outage, "b", "2", "", ""), New(Outage, "a", "3", "", ""), New(Advice, "a", "1", "", "")}) {
		got += f.Where
	}
	if got != "321z" {
		t.Error(got)
	}
}

// A finding that is more severe than the acknowledged one is open again, and so is one whose acknowledgement has ended.
func TestAcknowledgements(t *testing.T) {
	f := New(Advice, "a", "b", "", "x")
	a := Acknowledgement{Fact: f.Fact, Until: noon}
	graver := f
	graver.Severity = AtRisk
	for _, test := range []struct {
		f    Finding
		at   time.Time
		want bool
	}{{f, noon.Add(-1), true}, {f, noon, false}, {graver, noon.Add(-1), false}, {New(Advice, "a", "c", "", "x"), noon.Add(-1), false}} {
		list := []Finding{test.f}
		if Acknowledge(list, map[string]Acknowledgement{a.ID: a}, test.at); list[0].Open() == test.want {
			t.Errorf("%+v at %v", test.f, test.at)
		}
	}
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(a.Key(), text); err != nil {
		t.Error(err)
	}
	if Check(AcknowledgedPrefix+"other", text) == nil || Check(a.Key(), []byte("{")) == nil {
		t.Error("documents of another finding, or none, are acknowledgements")
	}
}

// A severity of a newer version is not taken for healthy.
func TestUnknownSeverity(t *testing.T) {
	var s Severity
	for text, want := range map[string]Severity{`"advice"`: Advice, `"none"`: None, `"disaster"`: AtRisk} {
		if err := json.Unmarshal([]byte(text), &s); err != nil || s != want {
			t.Errorf("%s is %v, %v", text, s, err)
		}
	}
	if _, err := Parse("none"); err == nil {
		t.Error("none is a severity of findings")
	}
}
