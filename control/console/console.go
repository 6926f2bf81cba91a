package console

import (
	"fmt"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"locus/config"
	"locus/control/fleet"
	"locus/control/generators"
	"locus/control/tracing"
	"locus/proxy"
	"locus/router"
	"locus/router/cluster"
)

// Proxy is the process's proxy.
type Proxy interface {
	Status() proxy.Status
	// Map is the route map in force.
	Map() *router.Map
	Generators() map[string]cluster.Generator
}

// Options is what a console is made of.
type Options struct {
	Proxy    Proxy
	Cluster  Cluster
	IDs      Generators // answers below /api/; nil: nothing does
	Accounts []Account  // nobody logs in without
	Secure   bool       // it is served over TLS
	Version  string
	// Traced counts the spans of traces; nil: there are none.
	Traced func() tracing.Counts
	// Keys is what the process says of its key ring; nil: it has none.
	Keys func() fleet.Keys
	Now  func() time.Time // nil: the clock
}

// Generators is the process's generators: what answers below /api/, and how they
// stand.
type Generators interface {
	http.Handler
	Status() []generators.Status
}

// New makes the handler: /healthz and /readyz for everybody, the rest for who
// logs in.
func New(o Options) http.Handler {
	if o.Now == nil {
		o.Now = time.Now
	}
	d := newDoors(o)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", healthz)
	mux.HandleFunc("GET /readyz", readyz(o.Proxy))
	mux.HandleFunc("GET /assets/{name}", asset)
	mux.HandleFunc("GET /login", d.page)
	mux.HandleFunc("POST /login", d.login)
	mux.HandleFunc("POST /logout", d.logout)
	sees := func(pattern string, h http.HandlerFunc) { mux.Handle(pattern, d.guard(config.Viewer, h)) }
	registry := prometheus.NewRegistry()
	registry.MustRegister(newCollector(o), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	sees("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP)
	if o.IDs != nil {
		sees("GET /api/", o.IDs.ServeHTTP)
	}
	live := newLive(o)
	sees("GET /{$}", live.page)
	sees("GET /jobs", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "./", http.StatusSeeOther) })
	sees("GET /events", live.events)
	sees("GET /weights", newWeights(o.Cluster, o.Proxy).answer)
	mux.Handle("POST /jobs/{id}/{order}", d.guard(config.Admin, orders{o.Cluster}.take))
	profiles(mux, d)
	return http.NewCrossOriginProtection().Handler(mux)
}

// profiles are of the whole process, so they are the admins'.
func profiles(mux *http.ServeMux, d *doors) {
	for pattern, h := range map[string]http.HandlerFunc{
		"GET /debug/pprof/": pprof.Index, "GET /debug/pprof/profile": pprof.Profile,
		"GET /debug/pprof/trace": pprof.Trace, "GET /debug/pprof/symbol": pprof.Symbol,
	} { // not cmdline: it is nobody's business
		mux.Handle(pattern, d.guard(config.Admin, h))
	}
	mux.Handle("GET /debug/pprof/cmdline", http.NotFoundHandler())
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

// Server is an HTTP server with bounds on slow and large requests.
func Server(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 60 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
}
