package console

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"locus/cmd/watch"
	"locus/migrate/job"
)

// Moves is where the records of moves, their reports and the proxies are read.
type Moves interface {
	Jobs(context.Context) ([]*job.Job, error)
	Reports(context.Context) (map[string]job.Report, error)
	// Proxies is the version of the map that each living proxy obeys.
	Proxies(context.Context) (map[string]int64, error)
}

//go:embed assets
var assets embed.FS

// asset serves what pages load.
func asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if strings.HasSuffix(name, ".html") {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	http.ServeFileFS(w, r, assets, "assets/"+name)
}

var liveTemplate = template.Must(template.New("live").Funcs(template.FuncMap{
	"count":   func(n any) string { return watch.Count(integer(n)) },
	"percent": watch.Percent,
	"clock":   func(t time.Time) string { return t.UTC().Format("15:04:05") },
	"stamp":   func(t time.Time) string { return t.UTC().Format("15:04:05.000") },
	"day":     func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") },
}).ParseFS(assets, "assets/jobs.html"))

func integer(n any) int64 {
	switch v := n.(type) {
	case int:
		return int64(v)
	case uint64:
		return int64(v)
	case int64:
		return v
	}
	return 0
}

// live is the page of moves, and what keeps it up to date. One look serves all
// pages that are open.
type live struct {
	proxy   Proxy
	moves   Moves
	version string
	pages   chan struct{} // one for each page that is open

	mu      sync.Mutex // of what follows; held during a look
	watcher watch.Watcher
	html    []byte
	looked  time.Time
	err     error
}

const (
	mostPages  = 64
	pastJobs   = 20
	lookEvery  = 500 * time.Millisecond
	lookFor    = 3 * time.Second
	sendWithin = 10 * time.Second
)

func newLive(p Proxy, moves Moves, version string) *live {
	return &live{
		proxy: p, moves: moves, version: version, pages: make(chan struct{}, mostPages),
		watcher: watch.Watcher{Source: moves, Past: pastJobs},
	}
}

// parts is what the page shows now, at most half a second old.
func (l *live) parts(ctx context.Context) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if now.Sub(l.looked) < lookEvery {
		return l.html, l.err
	}
	v, err := l.look(ctx, now)
	if ctx.Err() != nil && err != nil {
		return nil, err // it says nothing to others
	}
	l.looked = time.Now()
	if l.err = err; err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if l.err = liveTemplate.ExecuteTemplate(&b, "parts", v); l.err != nil {
		return nil, l.err
	}
	l.html = b.Bytes()
	return l.html, nil
}

func (l *live) look(ctx context.Context, now time.Time) (*view, error) {
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	list, _, err := l.watcher.Look(ctx)
	if err != nil {
		return nil, err
	}
	proxies, err := l.moves.Proxies(ctx)
	if err != nil {
		return nil, err
	}
	return newView(list, proxies, l.proxy, now), nil
}

func (l *live) page(w http.ResponseWriter, r *http.Request) {
	html, err := l.parts(r.Context())
	if err != nil {
		http.Error(w, fmt.Sprintf("read the moves: %v", err), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	w.Header().Set("Cache-Control", "no-store")
	_ = pageOf(w, html, l.version)
}

// events sends the page's parts as they change, until the page is closed.
func (l *live) events(w http.ResponseWriter, r *http.Request) {
	select {
	case l.pages <- struct{}{}:
		defer func() { <-l.pages }()
	default:
		http.Error(w, "as many pages are open as may be", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := http.NewResponseController(w)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var last string
	var sent time.Time
	for {
		html, err := l.parts(r.Context())
		event := eventOf(html, err)
		if event != last || time.Since(sent) > sendWithin {
			_ = out.SetWriteDeadline(time.Now().Add(sendWithin))
			if _, err := w.Write([]byte(event)); err != nil || out.Flush() != nil {
				return
			}
			last, sent = event, time.Now()
		}
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
	}
}

func eventOf(html []byte, err error) string {
	kind, text := "jobs", string(html)
	if err != nil {
		kind, text = "trouble", err.Error()
	}
	data, _ := json.Marshal(text) // a string
	return "event: " + kind + "\ndata: " + string(data) + "\n\n"
}

func pageOf(w http.ResponseWriter, html []byte, version string) error {
	return liveTemplate.ExecuteTemplate(w, "page", map[string]any{
		"Now": time.Now(), "Version": version, "Parts": template.HTML(html), //nolint:gosec // our own template made it
	})
}

// sorted gives proxies by name.
func sorted(proxies map[string]int64) []proxyView {
	list := make([]proxyView, 0, len(proxies))
	for name, version := range proxies {
		list = append(list, proxyView{name, version})
	}
	slices.SortFunc(list, func(a, b proxyView) int { return strings.Compare(a.Name, b.Name) })
	return list
}
