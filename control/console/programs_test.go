//go:build servers

package console

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPrometheusTakesTheMetrics runs Debian's Prometheus, which scrapes both kinds of buckets and computes the same from them.
func TestPrometheusTakesTheMetrics(t *testing.T) {
	binary, err := exec.LookPath("prometheus")
	if err != nil {
		t.Fatal("prometheus is not installed: test/install/servers.sh test")
	}
	h := busyHandler(t)
	server := httptest.NewServer(h)
	defer server.Close()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := free.Addr().String()
	_ = free.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf("scrape_configs: [{job_name: locus, scrape_interval: 1s, basic_auth: {username: u, password: p}, static_configs: [{targets: [%q]}]}]\n", strings.TrimPrefix(server.URL, "http://"))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	command := exec.CommandContext(ctx, binary, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+addr, "--enable-feature=native-histograms", "--log.level=error")
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { stop(); _ = command.Wait() }()
	for query, want := range map[string]func(float64) bool{
		`histogram_count(sum(locus_statement_duration_seconds))`:                   func(v float64) bool { return v == 100 },
		`histogram_quantile(0.5, locus_statement_duration_seconds{kind="select"})`: func(v float64) bool { return v > 0.00072 && v < 0.0009 },
		`locus_errors_total{code="1062"}`:                                          func(v float64) bool { return v == 1 },
		`sum(locus_move_conflicts{move="split-1"})`:                                func(v float64) bool { return v == 3 },
	} {
		if v := answered(t, "http://"+addr, query); !want(v) {
			t.Errorf("%s is %v", query, v)
		}
	}
}

// answered waits for a value.
func answered(t *testing.T, server, query string) float64 {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	last := ""
	for range 600 {
		<-tick.C
		response, err := http.Get(server + "/api/v1/query?query=" + url.QueryEscape(query)) //nolint:gosec,noctx // our own server
		if err != nil {
			last = err.Error()
			continue
		}
		body, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		last = string(body)
		var found struct {
			Data struct{ Result []struct{ Value []any } }
		}
		var v float64
		if json.Unmarshal(body, &found) == nil && len(found.Data.Result) == 1 {
			if _, err := fmt.Sscan(fmt.Sprint(found.Data.Result[0].Value[1]), &v); err == nil {
				return v
			}
		}
	}
	t.Fatalf("%s has no value: %s", query, last)
	return 0
}

// TestMetricsAreAsPrometheusWantsThem runs promtool, which must find no fault in the metrics' names and help.
func TestMetricsAreAsPrometheusWantsThem(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Fatalf("%v: test/install/servers.sh test", err)
	}
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.SetBasicAuth("admin", "pass")
	w := httptest.NewRecorder()
	newConsole(&fakeCluster{}).ServeHTTP(w, r)
	if !strings.Contains(w.Body.String(), "locus_statements_slow_total 1\n") {
		t.Errorf("%d: the slow statement is not counted", w.Code)
	}
	check := exec.CommandContext(t.Context(), promtool, "check", "metrics")
	check.Stdin = w.Body
	if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestThePagesScripts runs the tests of the pages' scripts that need no browser by Node's own runner.
func TestThePagesScripts(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("%v: apt-get install nodejs", err)
	}
	files, err := filepath.Glob("testdata/*.test.js")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests of scripts: %v", err)
	}
	if out, err := exec.CommandContext(t.Context(), node, append([]string{"--test"}, files...)...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
