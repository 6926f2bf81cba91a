package tracing

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"locus/internal/test/collector"
	"locus/migrate"
	"locus/migrate/cutover"
	"locus/proxy/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// logged is a log in memory.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) lines() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), "\n")
}

func open(t *testing.T, o Options) (*Spans, *logged) {
	t.Helper()
	log := new(logged)
	o.Log = slog.New(slog.NewTextHandler(log, nil))
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return s, log
}

func closed(t *testing.T, s *Spans) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func secretFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "headers")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func load() trace.Segment {
	return trace.Segment{Counter: "orders", Size: 1000, Began: time.Now(), Ended: time.Now()}
}

// Spans that began before the end are sent at the end, with the headers that the collector requires.
func TestSpansAreSentAtTheEnd(t *testing.T) {
	c := collector.Start(t)
	s, log := open(t, Options{Endpoint: c.URL, HeadersFile: secretFile(t, "Authorization: Bearer s3cret-of-it\nX-Scope: a\n")})
	for range 3 {
		s.Segment(load())
	}
	closed(t, s)
	if got := c.Spans(); len(got) != 3 || got[0].Name != "load segment" || got[0].Attributes["locus.counter"] != "orders" {
		t.Errorf("%+v", got)
	}
	for _, h := range c.Headers() {
		if h.Get("Authorization") != "Bearer s3cret-of-it" || h.Get("X-Scope") != "a" {
			t.Errorf("%v", h)
		}
	}
	if got := s.Counts(); got != (Counts{Sent: 3}) || log.lines() != 0 {
		t.Errorf("%+v, and %s", got, log.text.String())
	}
}

// An unresponsive collector blocks nobody. Excess spans are dropped and counted, and the log is not flooded.
func TestACollectorThatTakesNothing(t *testing.T) {
	asked, release := make(chan struct{}, 1<<10), make(chan struct{})
	stuck := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer stuck.Close()
	defer close(release)
	s, log := open(t, Options{Endpoint: stuck.URL + "/v1/traces"})
	for range most {
		s.Segment(load())
	}
	<-asked // one request is in progress, and remains so
	const more = 1000
	for range more {
		s.Segment(load())
	}
	if got := s.Counts(); got != (Counts{Dropped: more}) {
		t.Errorf("%+v", got)
	}
	closed(t, s)
	if got := s.Counts(); got != (Counts{Dropped: most + more}) {
		t.Errorf("%+v", got)
	}
	if n := log.lines(); n != 1 {
		t.Errorf("%d lines: %s", n, log.text.String())
	}
}

// A collector that refuses spans, or is unreachable, blocks nobody either.
func TestACollectorThatIsAway(t *testing.T) {
	refusing := collector.Start(t)
	refusing.Answer(http.StatusForbidden)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, url := range map[string]string{"refuses": refusing.URL, "is not there": gone.URL + "/v1/traces"} {
		t.Run(name, func(t *testing.T) {
			s, log := open(t, Options{Endpoint: url, HeadersFile: secretFile(t, "Authorization: s3cret-of-it")})
			for range 600 { // more than one batch
				s.Segment(load())
			}
			closed(t, s)
			if got := s.Counts(); got != (Counts{Dropped: 600}) {
				t.Errorf("%+v", got)
			}
			if log.lines() != 1 || strings.Contains(log.text.String(), "s3cret") {
				t.Errorf("%s", log.text.String())
			}
		})
	}
}

// The headers are sent only to the collector, even if it redirects the client.
func TestHeadersGoNowhereElse(t *testing.T) {
	elsewhere := collector.Start(t)
	pointing := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer pointing.Close()
	s, _ := open(t, Options{Endpoint: pointing.URL + "/v1/traces", HeadersFile: secretFile(t, "Authorization: s3cret-of-it")})
	s.Segment(load())
	closed(t, s)
	if got := elsewhere.Headers(); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// Errors in a file with headers are reported without the secrets.
func TestHeadersThatAreWrong(t *testing.T) {
	_, err := Open(Options{Endpoint: "http://127.0.0.1:1/v1/traces", HeadersFile: secretFile(t, "Bearer s3cret-of-it")})
	if err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("%v", err)
	}
}

// A step of a cut-over is one trace, with a span for each of its lines.
func TestAStepIsTraced(t *testing.T) {
	c := collector.Start(t)
	s, _ := open(t, Options{Endpoint: c.URL})
	now := time.Now()
	s.Stepped(migrate.Stepped{
		Job: "split-1", To: "s2", Genes: 300, Began: now, Ended: now.Add(time.Second), Failed: true,
		Lines: []cutover.Line{
			{Name: cutover.BeforeCheck, Began: now, Ended: now}, {Name: cutover.BeforeFence, Began: now, Ended: now.Add(time.Second), Failed: true},
		},
	})
	closed(t, s)
	for _, step := range c.Spans() {
		if step.Parent != "" {
			continue
		}
		lines := collector.Within(c.Spans(), step)
		if step.Name != "cut-over step" || step.Attributes["locus.job"] != "split-1" || step.Attributes["locus.genes"] != "300" || !step.Failed || step.Took != time.Second {
			t.Errorf("%+v", step)
		}
		if len(lines) != 2 || lines[0].Name != "check" || lines[0].Failed || lines[1].Name != "fence" || !lines[1].Failed {
			t.Errorf("%+v", lines)
		}
	}
	if n := len(c.Spans()); n != 3 {
		t.Errorf("%d spans", n)
	}
}

// Without a collector nothing is traced.
func TestNoSpans(t *testing.T) {
	var s *Spans
	if s.Tracer() != nil || s.Counts() != (Counts{}) {
		t.Error("something is traced")
	}
	closed(t, s)
}
