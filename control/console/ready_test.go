package console

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"locus/proxy"
	"locus/proxy/backend"
	"locus/router"
	"locus/router/live"
)

// state is a proxy with a status.
type state struct {
	fakeProxy
	status proxy.Status
}

func (s *state) Status() proxy.Status { return s.status }

func TestReadiness(t *testing.T) {
	read := live.Status{Revision: 7}
	ended := time.Now().Add(-time.Minute)
	pools := func(s0, s1 time.Time) map[router.ShardName]backend.Stats {
		return map[router.ShardName]backend.Stats{"s0": {Unleased: s0}, "s1": {Unleased: s1}}
	}
	for name, test := range map[string]struct {
		status proxy.Status
		code   int
		says   []string
	}{
		"ready":          {proxy.Status{Live: read, Pools: pools(time.Time{}, time.Time{})}, 200, []string{"ok: revision 7"}},
		"nothing read":   {proxy.Status{}, 503, []string{"no cluster read yet"}},
		"without leases": {proxy.Status{Live: read, Pools: pools(ended, time.Time{})}, 503, []string{"etcd does not answer", "[s0]", ended.Local().Format(time.DateTime), "check etcd"}},
		"for two shards": {proxy.Status{Live: read, Pools: pools(ended.Add(time.Second), ended)}, 503, []string{"[s0 s1]", ended.Local().Format(time.DateTime)}},
		"reads go on": {proxy.Status{Live: read, Pools: map[router.ShardName]backend.Stats{"s0": {Unleased: ended, StaleAllowed: true}, "s1": {StaleAllowed: true}}}, 200, []string{
			"ok for plain reads", "shards [s0] go on since " + ended.Local().Format(time.DateTime) + " and may be stale", "all other statements on them are refused", "check etcd",
		}},
		"reads go on at one": {proxy.Status{Live: read, Pools: map[router.ShardName]backend.Stats{"s0": {Unleased: ended, StaleAllowed: true}, "s1": {Unleased: ended}}}, 503, []string{"shards [s1] are refused"}},
		"draining": {
			proxy.Status{Live: read, Draining: true, Sessions: 12, Stopping: proxy.Stopping{Since: ended, PortCloses: time.Now().Add(time.Hour)}},
			503,
			[]string{"draining: not ready since " + ended.Local().Format(time.TimeOnly), "port closes in", "12 sessions left"},
		},
		"drained": {proxy.Status{Live: read, Draining: true, Stopping: proxy.Stopping{Since: ended, PortCloses: ended}}, 503, []string{"port closed, 0 sessions left"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			Readiness(&state{status: test.status})(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
			if w.Code != test.code {
				t.Errorf("%d, want %d", w.Code, test.code)
			}
			for _, text := range test.says {
				if !strings.Contains(w.Body.String(), text) {
					t.Errorf("%q lacks %q", w.Body, text)
				}
			}
		})
	}
}
