//go:build long

package console

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"locus/migrate/job"
)

// countedMoves tells when it has been read several times, which an open page
// does.
type countedMoves struct {
	fakeMoves
	looks atomic.Int32
	seen  chan struct{}
}

func (c *countedMoves) Jobs(ctx context.Context) ([]*job.Job, error) {
	if c.looks.Add(1) == 5 {
		close(c.seen)
	}
	return c.fakeMoves.Jobs(ctx)
}

// A browser runs the page's script under the page's own policy: what stands in
// the document afterwards came by an event. Chromium is Debian's package.
func TestInABrowser(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("%v: apt-get install chromium", err)
	}
	for _, size := range []string{"1440,900", "390,844"} {
		document := browse(t, chromium, size)
		for _, want := range []string{`>live</span>`, `id="job-split-1"`} {
			if !strings.Contains(document, want) {
				t.Errorf("%s: the document lacks %s:\n%s", size, want, document)
			}
		}
	}
}

// browse gives the document as it is when the page has had events. A script that
// is answered late keeps the browser from taking the page for loaded before.
func browse(t *testing.T, chromium, size string) string {
	moves := &countedMoves{fakeMoves: fakeMoves{jobs: []*job.Job{failedJob(t, "split-1")}}, seen: make(chan struct{})}
	pages := New(&fakeProxy{}, moves, nil, Login{"admin", "pass"}, "v0")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/late.js":
			select {
			case <-moves.seen:
			case <-r.Context().Done():
			}
			w.Header().Set("Content-Type", "text/javascript")
		case "/jobs":
			page := httptest.NewRecorder()
			pages.ServeHTTP(page, r)
			for name, values := range page.Header() {
				w.Header()[name] = values
			}
			w.WriteHeader(page.Code)
			_, _ = w.Write(bytes.Replace(page.Body.Bytes(), []byte("</head>"), []byte(`<script src="late.js" defer></script></head>`), 1))
		default:
			pages.ServeHTTP(w, r)
		}
	}))
	defer server.Close()
	page, err := url.Parse(server.URL + "/jobs")
	if err != nil {
		t.Fatal(err)
	}
	page.User = url.UserPassword("admin", "pass")
	out, err := exec.CommandContext(t.Context(), chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir="+t.TempDir(),
		"--window-size="+size, "--timeout=60000", "--dump-dom", page.String()).Output()
	if err != nil {
		t.Fatalf("%s: %v", size, err)
	}
	return string(out)
}
