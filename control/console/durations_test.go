package console

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	io_prometheus_client "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"locus/config"
	"locus/migrate/job"
	"locus/proxy"
	"locus/proxy/backend"
	"locus/proxy/health"
	"locus/proxy/meter"
	"locus/proxy/session"
	"locus/router"
)

// busy is a proxy that has run some statements.
type busy struct {
	fakeProxy
	meter meter.Meter
}

func (b *busy) Status() proxy.Status {
	pool := backend.Stats{Limit: 100, Lent: 7, Borrowed: 50, Waits: 3, Exhausted: 1, Logins: 9, Dead: 2, Discarded: 4, Blocked: 1500 * time.Millisecond}
	servers := []health.Status{{Shard: "s0", Addr: "db:3306", State: health.Slow, Took: 1500 * time.Millisecond}}
	return proxy.Status{Counts: new(session.Counts), Meter: &b.meter, Pools: map[router.ShardName]backend.Stats{"s0": pool}, Servers: servers}
}

func (b *busy) run(k meter.Kind, shard string, took time.Duration, code uint16) {
	d := b.meter.Statements.Find("shop", uint64(k), k, func() (string, []string) { return "x", nil })
	b.meter.Ran(d, &meter.Run{Kind: k, Shard: shard, Took: took, Failed: code != 0, Code: code})
	if code != 0 {
		b.meter.Codes.Add(code)
	}
}

func busyHandler(t *testing.T) http.Handler {
	t.Helper()
	p := &busy{}
	for range 98 {
		p.run(meter.Select, "s0", 800*time.Microsecond, 0)
	}
	p.run(meter.Select, "s0", 2*time.Second, 0)
	p.run(meter.Insert, meter.SeveralShards, 5*time.Millisecond, 1062)
	cluster := &fakeCluster{
		jobs: []*job.Job{failedJob(t, "split-1")},
		reports: map[string]job.Report{"split-1": {
			ID: "split-1", Runner: "p", At: began, LagMs: 2500, Conflicts: 3, LastFenceMs: 120, RowsCopied: 77, Trouble: "it fails",
		}},
	}
	return New(Options{
		Proxy: p, Cluster: cluster, Now: func() time.Time { return began.Add(4 * time.Second) },
		Accounts: []Account{{"u", config.Viewer, func() (string, error) { return "p", nil }}},
	})
}

func scrape(t *testing.T, h http.Handler, accept string) *http.Response {
	t.Helper()
	return scrapePath(t, h, "/metrics", accept)
}

func scrapePath(t *testing.T, h http.Handler, path, accept string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.SetBasicAuth("u", "p")
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return w.Result()
}

// Latency by kind, shard and outcome, errors by number, connections and moves are among
// the metrics.
func TestMetricsOfStatementsAndMoves(t *testing.T) {
	body, err := io.ReadAll(scrape(t, busyHandler(t), "text/plain").Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`locus_statement_duration_seconds_bucket{kind="select",outcome="ok",shard="s0",le="0.0005"} 0`,
		`locus_statement_duration_seconds_bucket{kind="select",outcome="ok",shard="s0",le="0.001"} 98`,
		`locus_statement_duration_seconds_bucket{kind="select",outcome="ok",shard="s0",le="1"} 98`,
		`locus_statement_duration_seconds_bucket{kind="select",outcome="ok",shard="s0",le="2.5"} 99`,
		`locus_statement_duration_seconds_count{kind="select",outcome="ok",shard="s0"} 99`,
		`locus_statement_duration_seconds_sum{kind="select",outcome="ok",shard="s0"} 2.0784`,
		`locus_statement_duration_seconds_count{kind="insert",outcome="error",shard="(several)"} 1`,
		`locus_errors_total{code="1062"} 1`,
		`locus_statement_digests 2`,
		`locus_statement_digests_limit 4000`,
		`locus_backend_connections_limit{shard="s0"} 100`,
		`locus_backend_borrowed_total{shard="s0"} 50`,
		`locus_backend_waits_total{shard="s0"} 3`,
		`locus_backend_exhausted_total{shard="s0"} 1`,
		`locus_backend_logins_total{shard="s0"} 9`,
		`locus_backend_closed_total{found="dead",shard="s0"} 2`,
		`locus_backend_closed_total{found="used_up",shard="s0"} 4`,
		`locus_backend_blocked_seconds{shard="s0"} 1.5`,
		`locus_move_phase{from="s0",move="split-1",phase="failed",to="s2"} 1`,
		`locus_move_lag_seconds{from="s0",move="split-1",stream="forward",to="s2"} 2.5`,
		`locus_move_last_hold_seconds{from="s0",move="split-1",to="s2"} 0.12`,
		`locus_move_conflicts{from="s0",move="split-1",to="s2"} 3`,
		`locus_move_rows{done="copied",from="s0",move="split-1",to="s2"} 77`,
		`locus_move_trouble{from="s0",move="split-1",to="s2"} 1`,
		`locus_move_reported_seconds{from="s0",move="split-1",to="s2"} 4`,
		`locus_move_percent{from="s0",move="split-1",of="at_target",to="s2"} 0`,
	} {
		if !strings.Contains(string(body), line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
}

// The metrics for frequent scrapes contain only the servers' states, which are all that an immediate alert needs.
func TestMetricsOfServersAlone(t *testing.T) {
	h := busyHandler(t)
	ofServers := func(path string) (lines, others []string) {
		body, err := io.ReadAll(scrapePath(t, h, path, "text/plain").Body)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(body)) {
			switch {
			case strings.HasPrefix(line, "locus_server_"):
				lines = append(lines, line)
			case !strings.HasPrefix(line, "#"):
				others = append(others, line)
			}
		}
		return lines, others
	}
	all, _ := ofServers("/metrics")
	alone, others := ofServers("/metrics/servers")
	if len(others) > 0 || !slices.Equal(all, alone) || !slices.Contains(alone, "locus_server_state{addr=\"db:3306\",role=\"primary\",shard=\"s0\",state=\"slow\"} 1\n") {
		t.Errorf("%q, of which %q are none of servers; all: %q", alone, others, all)
	}
}

// Without etcd only the moves are missing.
func TestMetricsWithoutEtcd(t *testing.T) {
	h := New(Options{Proxy: &busy{}, Cluster: &fakeCluster{err: context.DeadlineExceeded}, Accounts: []Account{{"u", config.Viewer, func() (string, error) { return "p", nil }}}})
	body, err := io.ReadAll(scrape(t, h, "text/plain").Body)
	if err != nil || !strings.Contains(string(body), "\nlocus_source_up ") || strings.Contains(string(body), "locus_move") {
		t.Errorf("%v: %s", err, body)
	}
}

// A Prometheus that asks for native buckets gets them in addition to the classic ones.
func TestNativeBuckets(t *testing.T) {
	response := scrape(t, busyHandler(t), string(expfmt.NewFormat(expfmt.TypeProtoDelim)))
	decoder := expfmt.NewDecoder(response.Body, expfmt.ResponseFormat(response.Header))
	for {
		var family io_prometheus_client.MetricFamily
		if err := decoder.Decode(&family); err != nil {
			t.Fatalf("the histogram is not there: %v", err)
		}
		if family.GetName() != "locus_statement_duration_seconds" {
			continue
		}
		for _, m := range family.Metric {
			h := m.Histogram
			n := int64(h.GetZeroCount())
			at := int64(0)
			for _, delta := range h.PositiveDelta {
				at += delta
				n += at
			}
			if h.GetSchema() != meter.NativeSchema || n != int64(h.GetSampleCount()) || len(h.Bucket) != len(meter.Bounds) || n == 0 {
				t.Errorf("%v", m)
			}
		}
		return
	}
}
