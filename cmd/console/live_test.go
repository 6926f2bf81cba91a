package console

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/proxy"
	"locus/proxy/session"
	"locus/router"
	"locus/router/gene"
)

type fakeProxy struct{ counts session.Counts }

func (f *fakeProxy) Status() proxy.Status {
	return proxy.Status{MapVersion: 1, Sessions: 3, Counts: &f.counts}
}
func (f *fakeProxy) Routes() string { return f.Map().String() }

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

// fakeMoves is records and reports in memory.
type fakeMoves struct {
	mu      sync.Mutex // of what follows
	jobs    []*job.Job
	reports map[string]job.Report
	err     error
}

func (f *fakeMoves) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *fakeMoves) Jobs(context.Context) ([]*job.Job, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.jobs, f.err
}

func (f *fakeMoves) Reports(context.Context) (map[string]job.Report, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reports, f.err
}

func (f *fakeMoves) Proxies(context.Context) (map[string]int64, error) {
	return map[string]int64{"proxy-b": 1, "proxy-a": 2}, nil
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

func serve(t *testing.T, moves *fakeMoves) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(New(&fakeProxy{}, moves, nil, Login{"admin", "pass"}, "v0"))
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

func TestThePageOfMoves(t *testing.T) {
	moves := &fakeMoves{jobs: []*job.Job{failedJob(t, "split-1")}, reports: map[string]job.Report{
		"split-1": {ID: "split-1", Runner: "proxy-a", At: began, RowsCopied: 1234567, Lanes: 8, LanesDone: 2, Conflicts: 3},
	}}
	server := serve(t, moves)
	for _, path := range []string{"/jobs", "/jobs/events", "/assets/live.js"} {
		if answer := ask(t, server, path, "wrong"); answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s without the password: %s", path, answer.Status)
		}
	}
	answer := ask(t, server, "/jobs", "pass")
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	text := string(body)
	for _, want := range []string{
		"split-1", "failed", "no &lt;b&gt;log&lt;/b&gt;", "raise the retention", "1,234,567 rows, 2 of 8 lanes", "proxy-a", "s0 has 32768 genes", `class="moving"`,
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

// What changes reaches an open page, and so does that etcd is away.
func TestEvents(t *testing.T) {
	moves := &fakeMoves{}
	lines := bufio.NewScanner(ask(t, serve(t, moves), "/jobs/events", "pass").Body)
	lines.Buffer(nil, 1<<20)
	until := func(kind, part string) {
		t.Helper()
		for event := ""; lines.Scan(); {
			if name, is := strings.CutPrefix(lines.Text(), "event: "); is {
				event = name
			}
			data, is := strings.CutPrefix(lines.Text(), "data: ")
			var text string
			if is && json.Unmarshal([]byte(data), &text) == nil && event == kind && strings.Contains(text, part) {
				return
			}
		}
		t.Fatalf("no event %s with %q: %v", kind, part, lines.Err())
	}
	until("jobs", "No move is under way")
	j := failedJob(t, "split-7")
	moves.set(func() { moves.jobs = []*job.Job{j} })
	until("jobs", `id="job-split-7"`)
	moves.set(func() { moves.err = errors.New("etcd is away") })
	until("trouble", "etcd is away")
	moves.set(func() { moves.err = nil })
	until("jobs", `id="job-split-7"`)
}

func TestPagesAreBounded(t *testing.T) {
	l := newLive(&fakeProxy{}, &fakeMoves{}, "v0")
	for range mostPages {
		l.pages <- struct{}{}
	}
	w := httptest.NewRecorder()
	l.events(w, httptest.NewRequest(http.MethodGet, "/jobs/events", nil))
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("one page more than may be open: %d", w.Code)
	}
}
