package console

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"locus/config"
	"locus/control/fleet"
	"locus/control/watch"
)

//go:embed assets
var assets embed.FS

// asset serves what pages load. There is nothing in it that isn't public.
func asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if strings.HasSuffix(name, ".html") {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	http.ServeFileFS(w, r, assets, "assets/"+name)
}

var liveTemplate = template.Must(template.New("live").Funcs(template.FuncMap{
	"count":   func(n any) string { return watch.Count(integer(n)) },
	"percent": watch.Percent,
	"pair":    func(j jobView, admin bool) map[string]any { return map[string]any{"Job": j, "Admin": admin} },
	"seconds": func(ms float64) string { return strconv.FormatFloat(ms/1000, 'f', 3, 64) + " s" },
	"clock":   func(t time.Time) string { return t.UTC().Format("15:04:05") },
	"stamp":   func(t time.Time) string { return t.UTC().Format("15:04:05.000") },
	"day":     func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") },
}).ParseFS(assets, "assets/dashboard.html", "assets/jobs.html", "assets/fleet.html"))

func integer(n any) int64 {
	switch v := n.(type) {
	case int:
		return int64(v)
	case uint64:
		return int64(v)
	case int64:
		return v
	case float64:
		return int64(math.Round(v))
	}
	return 0
}

// live is the dashboard, and what keeps it up to date. One look serves all pages
// that are open.
type live struct {
	proxy   Proxy
	cluster Cluster
	version string
	pages   chan struct{} // one for each page that is open

	mu      sync.Mutex // of what follows; held during a look
	watcher watch.Watcher
	pace    pace
	shown   map[config.Role]update
	looked  time.Time
	err     error
}

// update is what a page is told.
type update struct {
	Moves   template.HTML `json:"moves"`
	Fleet   template.HTML `json:"fleet"`
	Picture picture       `json:"picture"`
}

const (
	mostPages  = 64
	pastJobs   = 20
	lookEvery  = 500 * time.Millisecond
	lookFor    = 3 * time.Second
	sendWithin = 10 * time.Second
)

func newLive(o Options) *live {
	return &live{
		proxy: o.Proxy, cluster: o.Cluster, version: o.Version, pages: make(chan struct{}, mostPages),
		watcher: watch.Watcher{Source: o.Cluster, Past: pastJobs},
	}
}

// parts is what the page shows a role now, at most half a second old.
func (l *live) parts(ctx context.Context, role config.Role) (update, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if now.Sub(l.looked) < lookEvery {
		return l.shown[role], l.err
	}
	v, err := l.look(ctx, now)
	if ctx.Err() != nil && err != nil {
		return update{}, err // it says nothing to others
	}
	l.looked = time.Now()
	if l.err = err; err != nil {
		return update{}, err
	}
	l.shown, l.err = shown(v)
	return l.shown[role], l.err
}

// shown is the view as each role sees it.
func shown(v *view) (map[config.Role]update, error) {
	all := map[config.Role]update{}
	for _, role := range []config.Role{config.Viewer, config.Admin} {
		v.Admin = role == config.Admin
		u := update{Picture: v.Picture}
		for name, part := range map[string]*template.HTML{"moves": &u.Moves, "fleet": &u.Fleet} {
			var b bytes.Buffer
			if err := liveTemplate.ExecuteTemplate(&b, name, v); err != nil {
				return nil, err
			}
			*part = template.HTML(b.String()) //nolint:gosec // our own template made it
		}
		all[role] = u
	}
	return all, nil
}

func (l *live) look(ctx context.Context, now time.Time) (*view, error) {
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	list, _, err := l.watcher.Look(ctx)
	if err != nil {
		return nil, err
	}
	var cards []fleet.Card
	if cards, err = l.cluster.Cards(ctx); err != nil {
		return nil, err
	}
	v := newView(list, cards, l.proxy, now)
	if counts := l.proxy.Status().Counts; counts != nil {
		v.PerSecond = l.pace.of(counts.Statements.Load(), now)
	}
	return v, nil
}

// pace is how fast a counter grows, over some seconds.
type pace struct {
	from, last uint64
	since, at  time.Time
}

func (p *pace) of(n uint64, now time.Time) float64 {
	if p.since.IsZero() || n < p.last {
		p.from, p.since = n, now
	}
	if now.Sub(p.since) > 6*time.Second { // the last look begins the next rate
		p.from, p.since = p.last, p.at
	}
	p.last, p.at = n, now
	if seconds := now.Sub(p.since).Seconds(); seconds > 0 {
		return float64(n-p.from) / seconds
	}
	return 0
}

func (l *live) page(w http.ResponseWriter, r *http.Request) {
	i := who(r)
	u, err := l.parts(r.Context(), i.role)
	headers(w)
	trouble := ""
	if err != nil {
		trouble = fmt.Sprintf("not up to date: %v", err)
	}
	_ = liveTemplate.ExecuteTemplate(w, "page", map[string]any{
		"Now": time.Now(), "Version": l.version, "Update": u, "Trouble": trouble, "User": i.user, "Role": i.role,
	})
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
		u, err := l.parts(r.Context(), who(r).role)
		event := eventOf(u, err)
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

func eventOf(u update, err error) string {
	kind, data := "update", []byte(nil)
	if err != nil {
		kind = "trouble"
		data, _ = json.Marshal(err.Error()) // a string
	} else {
		data, _ = json.Marshal(u) // strings and numbers
	}
	return "event: " + kind + "\ndata: " + string(data) + "\n\n"
}
