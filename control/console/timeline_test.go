package console

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"locus/control/events"
)

// TestEventsOverHTTP reads the parameters of a request, and answers with a page.
func TestEventsOverHTTP(t *testing.T) {
	f := &fakeCluster{}
	c := newConsole(f)
	a := get[eventsAnswer](t, c, "/v1/events?since=2026-03-01T22:00:00Z&kind=failover,keys&subject=s0&until=2026-03-02&after=x&limit=7")
	if len(a.Events) != 1 || a.Events[0].TookMs != 1500 || !a.Events[0].Failed || a.Events[0].Command != "locus status" || a.Next != "2" {
		t.Errorf("%+v", a)
	}
	want := events.Query{
		Kinds: []events.Kind{events.Failover, events.Keys}, Subject: "s0", After: "x", Limit: 7,
		Since: time.Date(2026, 3, 1, 22, 0, 0, 0, time.UTC), Until: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC),
	}
	if q := f.asked; len(q.Kinds) != 2 || q.Kinds[1] != want.Kinds[1] || q.Subject != want.Subject || q.After != want.After || q.Limit != want.Limit || !q.Since.Equal(want.Since) || !q.Until.Equal(want.Until) {
		t.Errorf("asked for %+v, want %+v", q, want)
	}
	for query, part := range map[string]string{
		"kind=nonsense": "no kind of events", "since=yesterday": "since: ", "until=never": "until: ", "limit=0": "from 1 to 1000", "limit=1001": "from 1 to 1000", "limit=x": "limit",
	} {
		if w := reply(c, http.MethodGet, "/v1/events?"+query, ""); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), part) {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
	f.set(func() { f.err = errors.New("etcd is down") })
	if w := reply(c, http.MethodGet, "/v1/events", ""); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "the timeline: etcd is down") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
