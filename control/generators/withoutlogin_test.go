//go:build servers

package generators

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"locus/router/cluster"
)

// A port without a login answers as Leaf does. It returns a plain number, which is also valid JSON for clients
// that accept JSON, and accepts any key for a snowflake. It serves no other paths, and only clients of its
// networks.
func TestWithoutALogin(t *testing.T) {
	api := Handler(open(t, newKV()), func() *cluster.Cluster {
		return of(map[string]cluster.Generator{
			"orders": {Kind: cluster.SegmentGenerator}, "flake": {Kind: cluster.SnowflakeGenerator},
			"bill": {Kind: cluster.FormatGenerator, Template: "B{seq:5}"},
		})
	})
	networks := []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00::/8")}
	const text, object = "text/plain; charset=utf-8", "application/json"
	for _, c := range []struct {
		from, path, accept string
		status             int
		kind, body         string
	}{
		{"10.1.2.3:5", "/api/segment/get/orders", "", 200, text, "1"},
		{"[::ffff:10.1.2.3]:5", "/api/segment/get/orders", "text/plain, application/json, */*", 200, object, "2"}, // a RestTemplate
		{"[fd00::1]:5", "/api/segment/get/orders?n=2", object, 200, text, "3\n4"},
		{"10.1.2.3:5", "/api/id/orders?format=json", "", 200, object, `{"ids":["5"],"tag":"orders"}` + "\n"},
		{"10.1.2.3:5", "/api/id/bill", object, 200, text, "B00001"},
		{"10.1.2.3:5", "/api/segment/get/other", "", 404, text, "generator \"other\": no such generator is declared\n"},
		{"10.1.2.3:5", "/api/segment/get/flake", "", 404, text, "generator flake is of kind snowflake\n"},
		{"10.2.2.3:5", "/api/segment/get/orders", "", 403, text, "no number is issued to 10.2.2.3: ids.allow of this process does not contain it\n"},
		{"nobody", "/api/segment/get/orders", "", 403, text, "no number is issued to invalid IP: ids.allow of this process does not contain it\n"},
		{"10.1.2.3:5", "/api/segment/get/orders?n=0", "", 400, text, "n=0: ask for 1 to 10000\n"},
		{"10.1.2.3:5", "/healthz", "", 200, text, "ok\n"},
		{"10.1.2.3:5", "/api/id/orders", "", 405, text, "Method Not Allowed\n"},
		{"10.1.2.3:5", "/metrics", "", 404, text, "404 page not found\n"},
		{"10.1.2.3:5", "/", "", 404, text, "404 page not found\n"},
	} {
		method := http.MethodGet
		if c.status == http.StatusMethodNotAllowed {
			method = http.MethodPost
		}
		r := httptest.NewRequest(method, c.path, nil)
		r.RemoteAddr = c.from
		r.Header.Set("Accept", c.accept)
		w := httptest.NewRecorder()
		api.WithoutLogin(networks, "flake").ServeHTTP(w, r)
		if w.Code != c.status || w.Header().Get("Content-Type") != c.kind || w.Body.String() != c.body {
			t.Errorf("%s by %s: %d, %s, %q", c.path, c.from, w.Code, w.Header().Get("Content-Type"), w.Body)
		}
	}
	want := OpenCounts{Numbers: 6, ByStatus: map[int]uint64{200: 5, 400: 1, 403: 2, 404: 4, 405: 1, 503: 0}}
	if got := api.OpenCounts(); !reflect.DeepEqual(got, want) {
		t.Errorf("counts: %+v, want %+v", got, want)
	}
	for snowflake, status := range map[string]int{"flake": 200, "": 404} {
		w := httptest.NewRecorder()
		api.WithoutLogin(nil, snowflake).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/snowflake/get/any", nil))
		if w.Code != status || status == 200 && len(strings.TrimLeft(w.Body.String(), "0123456789")) > 0 {
			t.Errorf("a snowflake of any key, by %q: %d %q", snowflake, w.Code, w.Body)
		}
	}
}
