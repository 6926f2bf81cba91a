package strict

import "testing"

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
