package console

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/config"
	"locus/control/fleet"
	"locus/idgen/gene"
	"locus/migrate"
	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/proxy"
	"locus/proxy/meter"
	"locus/proxy/session"
	"locus/router"
	"locus/router/cluster"
)

type fakeProxy struct{ counts session.Counts }

func (f *fakeProxy) Status() proxy.Status {
	slow := new(meter.Slow)
	slow.Add(meter.Took{Hash: "ab12", Text: "select <b>?</b>", Database: "shop", Shards: "s0, s1", All: 1234 * time.Millisecond, Ended: began})
	return proxy.Status{MapVersion: 1, Sessions: 3, Counts: &f.counts, Slow: slow}
}

func (*fakeProxy) Generators() map[string]cluster.Generator {
	return map[string]cluster.Generator{"invoice": {Kind: cluster.SegmentGenerator}}
}

func (*fakeProxy) Map() *router.Map {
	m, err := router.New(16, 1, []router.Entry{{Bound: 0x7fff, Shard: "s0"}, {Bound: 0xffff, Shard: "s1"}})
	if err != nil {
		panic(err)
	}
	genes, _ := gene.ParseSet("0x4000-0x7fff", 16)
	if m, err = m.Step([]router.Move{{Job: "split-1", Genes: genes, From: "s0", To: "s2"}}); err != nil {
		panic(err)
	}
	return m
}

// fakeCluster is records and reports in memory.
type fakeCluster struct {
	mu      sync.Mutex // of what follows
	jobs    []*job.Job
	reports map[string]job.Report
	err     error
}

func (f *fakeCluster) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *fakeCluster) Jobs(context.Context) ([]*job.Job, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.jobs, f.err
}

func (f *fakeCluster) Reports(context.Context) (map[string]job.Report, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reports, f.err
}

func (*fakeCluster) Cards(context.Context) ([]fleet.Card, error) {
	return []fleet.Card{{ID: "proxy-a", Addr: "127.0.0.1:4306", MapVersion: 2}, {ID: "proxy-b", MapVersion: 1}}, nil
}

func (*fakeCluster) Load(_ context.Context, w gene.Width) (*meter.Loads, error) {
	return meter.Sum(w, meter.Load{Heaviest: []meter.Rate{{Slot: 0x1234, PerSecond: 40}, {Slot: 0x9000, PerSecond: 7}}, Stripes: slices.Repeat([]float64{25.6}, 256)}), nil
}

func (*fakeCluster) Rows(context.Context) (map[router.ShardName]float64, error) {
	return map[router.ShardName]float64{"s0": 32768, "s1": 65536}, nil
}

func (f *fakeCluster) Tell(_ context.Context, id string, o job.Order, by string, _ time.Time, _ func(*job.Job) error) (*job.Job, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, j := range f.jobs {
		if j.ID == id {
			next, err := j.Told(o, by, began)
			if err == nil {
				f.jobs[i] = next
			}
			return next, err
		}
	}
	return nil, fmt.Errorf("job %s: %w", id, migrate.ErrNoJob)
}

var began = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func failedJob(t *testing.T, id string) *job.Job {
	t.Helper()
	genes, err := gene.ParseSet("0x4000-0x7fff", 16)
	if err != nil {
		t.Fatal(err)
	}
	j, err := job.New(id, job.Split, "s0", "s2", 16, genes, "anna", "", began)
	if err != nil {
		t.Fatal(err)
	}
	if j, err = j.On(phase.Event{Kind: phase.FailedWith, Why: "no <b>log</b>", Remedy: "raise the retention"}, "proxy-a", "", began); err != nil {
		t.Fatal(err)
	}
	return j
}

func handler(f *fakeCluster) http.Handler {
	password := func(text string) func() (string, error) { return func() (string, error) { return text, nil } }
	return New(Options{Proxy: &fakeProxy{}, Cluster: f, Version: "v0", Accounts: []Account{
		{"admin", config.Admin, password("pass")},
		{"vera", config.Viewer, password("look")},
		{"nobody", config.Admin, func() (string, error) { return "", errors.New("no such file") }},
	}})
}

func serve(t *testing.T, f *fakeCluster) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handler(f))
	t.Cleanup(server.Close)
	return server
}

func ask(t *testing.T, server *httptest.Server, path, password string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("admin", password)
	answer, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

func TestTheDashboard(t *testing.T) {
	f := &fakeCluster{jobs: []*job.Job{failedJob(t, "split-1")}, reports: map[string]job.Report{"split-1": {
		ID: "split-1", Runner: "proxy-a", At: began, RowsCopied: 1234567, Lanes: 8, LanesDone: 2, Conflicts: 3,
		Tables: []job.TableCopy{{Name: "shop.test_order", RowsCopied: 500, RowsEstimate: 1000, Lanes: 8}},
		Before: job.Fared{Statements: 1000, Failed: 1, P99Ms: 2.5}, After: job.Fared{Statements: 400, Failed: 40, P99Ms: 90},
	}}}
	server := serve(t, f)
	for _, path := range []string{"/", "/events", "/metrics"} {
		if answer := ask(t, server, path, "wrong"); answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s without the password: %s", path, answer.Status)
		}
	}
	answer := ask(t, server, "/", "pass")
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	text := string(body)
	for _, want := range []string{
		"split-1", "failed", "no &lt;b&gt;log&lt;/b&gt;", "raise the retention", "1,234,567 rows, 2 of 8 lanes", "proxy-a", "1 behind",
		"shop.test_order", "500 rows copied", "10 %", "90 ms", "invoice", `data-order="resume"`, "select &lt;b&gt;?&lt;/b&gt;", "s0, s1", "1.234 s",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(text, "http://") || strings.Contains(text, "https://") || strings.Contains(text, "style=") {
		t.Error("the page has outside resources, or styles that its policy forbids")
	}
	if policy := answer.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'") {
		t.Errorf("policy %q", policy)
	}
	for path, kind := range map[string]string{"/assets/live.js": "javascript", "/assets/page.css": "css"} {
		if a := ask(t, server, path, "pass"); a.StatusCode != http.StatusOK || !strings.Contains(a.Header.Get("Content-Type"), kind) {
			t.Errorf("%s: %s %s", path, a.Status, a.Header)
		}
	}
	for _, path := range []string{"/assets/jobs.html", "/assets/nothing"} {
		if a := ask(t, server, path, "pass"); a.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, a.Status)
		}
	}
}

// What genes have to bear adds up, whoever reports it.
func TestWeights(t *testing.T) {
	var got weighed
	if err := json.NewDecoder(ask(t, serve(t, &fakeCluster{}), "/weights", "pass").Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	cells, load := 0.0, 0.0
	for i := 0; i < len(got.Load); i += 2 {
		cells += got.Load[i]
		load += got.Load[i] * got.Load[i+1]
	}
	if cells != 65536 || load < 47+256*25.6-1 || load > 47+256*25.6+1 {
		t.Errorf("%v cells with %v statements/s", cells, load)
	}
	if got.Rows["s0"] != 1 || got.Rows["s1"] != 2 || len(got.Trouble) > 0 {
		t.Errorf("rows %v, trouble %v", got.Rows, got.Trouble)
	}
}

// What changes reaches an open page, and so does that etcd is away.
func TestEvents(t *testing.T) {
	moves := &fakeCluster{}
	lines := bufio.NewScanner(ask(t, serve(t, moves), "/events", "pass").Body)
	lines.Buffer(nil, 1<<20)
	until := func(kind, part string) {
		t.Helper()
		for event := ""; lines.Scan(); {
			if name, is := strings.CutPrefix(lines.Text(), "event: "); is {
				event = name
			}
			data, is := strings.CutPrefix(lines.Text(), "data: ")
			var u update
			var text string
			if is && (json.Unmarshal([]byte(data), &u) == nil || json.Unmarshal([]byte(data), &text) == nil) &&
				event == kind && strings.Contains(string(u.Moves)+text, part) {
				return
			}
		}
		t.Fatalf("no event %s with %q: %v", kind, part, lines.Err())
	}
	until("update", "No move is under way")
	j := failedJob(t, "split-7")
	moves.set(func() { moves.jobs = []*job.Job{j} })
	until("update", `id="job-split-7"`)
	moves.set(func() { moves.err = errors.New("etcd is away") })
	until("trouble", "etcd is away")
	moves.set(func() { moves.err = nil })
	until("update", `id="job-split-7"`)
}

func TestPagesAreBounded(t *testing.T) {
	l := newLive(Options{Proxy: &fakeProxy{}, Cluster: &fakeCluster{}})
	for range mostPages {
		l.pages <- struct{}{}
	}
	w := httptest.NewRecorder()
	l.events(w, httptest.NewRequest(http.MethodGet, "/events", nil))
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("one page more than may be open: %d", w.Code)
	}
}
