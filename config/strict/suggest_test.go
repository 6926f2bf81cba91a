package strict

import "testing"

func TestDidYouMean(t *testing.T) {
	for _, c := range []struct {
		name  string
		names []string
		want  string
	}{
		{"promot", []string{"none", "follow", "promote"}, ": did you mean promote?"},
		{"Promot", []string{"none", "follow", "promote"}, ": did you mean promote?"},
		{"PROMOTE", []string{"none", "follow", "promote"}, ": did you mean promote?"},
		{"buyer_id", []string{"id", "Buyer_UID"}, ": did you mean Buyer_UID?"},
		{"promote", []string{"promote"}, ""},
		{"yes", []string{"none", "follow", "promote"}, ""},
		{"", []string{"a"}, ""},
		{"x", nil, ""},
	} {
		if got := DidYouMean(c.name, c.names); got != c.want {
			t.Errorf("%q of %q: %q, want %q", c.name, c.names, got, c.want)
		}
	}
	if got := OneOf(Tilde("of"), "off", "on"); got != ": did you mean off?" {
		t.Error(got)
	}
}

// Tilde is an enumerated type.
type Tilde string

func TestDistances(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"jobs", "jobs", 0}, {"jobs", "job", 1}, {"sttaus", "status", 1}, {"routes", "proxies", 3}, {"", "abc", 3}, {"ca", "abc", 3}} {
		if got := distance(c.a, c.b); got != c.want || distance(c.b, c.a) != c.want {
			t.Errorf("%q and %q: %d", c.a, c.b, got)
		}
	}
}
