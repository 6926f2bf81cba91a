package console

import (
	"crypto/subtle"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"locus/proxy"
	"locus/router"
)

// Proxy is the process's proxy.
type Proxy interface {
	Status() proxy.Status
	Routes() string
	// Map is the route map in force.
	Map() *router.Map
}

// Login is who may see more than health. An empty Password lets nobody in.
type Login struct{ User, Password string }

// New makes the handler: /healthz and /readyz for everybody, the rest for who
// logs in. ids answers below /api/; nil: nothing does.
func New(p Proxy, moves Moves, ids http.Handler, login Login, version string) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(newCollector(p), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", healthz)
	mux.HandleFunc("GET /readyz", readyz(p))
	mux.Handle("GET /metrics", login.guard(promhttp.HandlerFor(registry, promhttp.HandlerOpts{})))
	mux.Handle("GET /{$}", login.guard(page(p, version)))
	if ids != nil {
		mux.Handle("GET /api/", login.guard(ids))
	}
	live := newLive(p, moves, version)
	mux.Handle("GET /jobs", login.guard(http.HandlerFunc(live.page)))
	mux.Handle("GET /jobs/events", login.guard(http.HandlerFunc(live.events)))
	mux.Handle("GET /assets/{name}", login.guard(http.HandlerFunc(asset)))
	return mux
}

// healthz says that the process serves HTTP.
func healthz(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }

// readyz says whether new clients should be sent here. A proxy that can't reach
// etcd serves on with what it knows, so it is ready and says so.
func readyz(p Proxy) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		s := p.Status()
		switch {
		case s.Draining:
			http.Error(w, "draining", http.StatusServiceUnavailable)
		case s.Live.Revision == 0:
			http.Error(w, "no cluster read yet", http.StatusServiceUnavailable)
		default:
			fmt.Fprintf(w, "ok: %s\n", s.Live)
		}
	}
}

// guard asks for the login by HTTP's basic authentication.
func (l Login) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		right := subtle.ConstantTimeCompare([]byte(user), []byte(l.User)) & subtle.ConstantTimeCompare([]byte(password), []byte(l.Password))
		if l.Password == "" || right != 1 {
			w.Header().Set("WWW-Authenticate", `Basic realm="locus", charset="UTF-8"`)
			http.Error(w, "log in", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Server is an HTTP server with bounds on slow and large requests.
func Server(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
}
