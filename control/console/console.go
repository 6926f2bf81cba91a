package console

import (
	"context"
	"fmt"
	"net/http"
	"net/http/pprof"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"locus/config"
	"locus/control/events"
	"locus/control/failover"
	"locus/control/finding"
	"locus/control/fleet"
	"locus/control/generators"
	"locus/control/tracing"
	"locus/proxy"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// Proxy is the process's proxy.
type Proxy interface {
	Status() proxy.Status
	// Map returns the route map in force, Declared the cluster, Catalog its tables.
	Map() *router.Map
	Declared() *cluster.Cluster
	Catalog() *catalog.Catalog
}

// Options configure a console.
type Options struct {
	Proxy      Proxy
	Cluster    Cluster
	Operations Operations
	Self       fleet.Card // the process's card, as other processes see it
	Name       string     // the cluster's name
	IDs        Generators // serves /api/; may be nil
	// Open returns the counts of the port for numbers without a login. It is nil if there is none.
	Open     func() generators.OpenCounts
	Accounts []Account // if it is empty, nobody can log in
	Secure   bool      // served over TLS
	Version  string
	// Traced returns the counts of spans. It is nil without tracing.
	Traced func() tracing.Counts
	// Events returns the counts of recorded events. It is nil if the process records none.
	Events func() events.Counts
	// Watched returns the shards whose servers the process watches. It is nil if it watches none.
	Watched func() map[router.ShardName]failover.Watched
	// Keys returns the state of the process's key ring. It is nil if it has none.
	Keys func() fleet.Keys
	// Outages records the outages among the findings every few seconds. It is nil if the process records none.
	Outages func(ctx context.Context, now time.Time, found []finding.Finding)
	Now     func() time.Time // nil for time.Now
}

// Generators are the process's generators: the handler of /api/, and their state.
type Generators interface {
	http.Handler
	Status() []generators.Status
}

// Console is the handler of all paths.
type Console struct {
	http.Handler
	options Options
	looks   *looker
	check   *examiner
	genes   *genes
	pages   *pages

	statements *lately[fleet.Cost]
	timeline   *lately[events.Page]
	digests    digests
	sizes      *lately[sizes]
	sessions   *lately[fleet.SessionList]
	generators *lately[fleet.Answers[[]generators.Report]]
	routes     *lately[[]cluster.Version]
}

// Data that require queries of the proxies, or large reads, are fetched once for all pages.
const (
	answersEvery    = 2 * time.Second
	answersPatience = 5 * time.Second
)

// New returns the handler. /healthz and /readyz are open to everybody; other paths require a login.
func New(o Options) *Console {
	if o.Now == nil {
		o.Now = time.Now
	}
	check := newExaminer(o.Cluster)
	c := &Console{
		options: o, check: check, looks: newLooker(o, check), genes: newGenes(o), pages: newPages(), statements: newStatements(o.Cluster), timeline: newTimeline(o.Cluster), sessions: newSessions(o.Cluster),
		generators: &lately[fleet.Answers[[]generators.Report]]{every: answersEvery, patience: answersPatience, find: o.Cluster.Generators},
		digests:    digests{find: o.Cluster.Digest},
		sizes:      newSizes(o),
		routes:     &lately[[]cluster.Version]{every: answersEvery, patience: answersPatience, find: o.Cluster.Routes},
	}
	c.Handler = http.NewCrossOriginProtection().Handler(c.paths(newAuth(o)))
	return c
}

// Run keeps the figures of the last hour and runs slow queries until ctx ends.
func (c *Console) Run(ctx context.Context) error {
	var running sync.WaitGroup
	running.Go(func() { c.check.run(ctx) })
	c.looks.run(ctx)
	running.Wait()
	return ctx.Err()
}

// paths returns the handler of all paths, each with the role that it requires.
func (c *Console) paths(d *auth) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", healthz)
	mux.HandleFunc("GET /readyz", Readiness(c.options.Proxy))
	mux.HandleFunc("GET /assets/{name}", asset)
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "assets/favicon.svg", http.StatusMovedPermanently)
	})
	mux.HandleFunc("GET /login", d.page)
	mux.HandleFunc("POST /login", d.login)
	mux.HandleFunc("POST /logout", d.logout)
	sees := func(pattern string, h http.HandlerFunc) { mux.Handle(pattern, d.guard(config.Viewer, h)) }
	answers := func(pattern string, h http.HandlerFunc) { sees(pattern, packed(h)) }
	orders := func(pattern string, h http.HandlerFunc) { mux.Handle(pattern, d.guard(config.Admin, h)) }
	sees("GET /metrics", scraped(newCollector(c.options, c.looks.recent), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})))
	sees("GET /metrics/servers", scraped(serverCollector{c.options.Proxy}))
	if c.options.IDs != nil {
		sees("GET /api/", c.options.IDs.ServeHTTP)
	}
	sees("GET /{$}", c.page)
	sees("GET /jobs", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "./", http.StatusSeeOther) })
	sees("GET /events", c.events)
	answers("GET /v1/state", c.getState)
	answers("GET /v1/history", c.getHistory)
	answers("GET /v1/moves", c.getMoves)
	answers("GET /v1/moves/{id}", c.getMove)
	answers("GET /v1/moves/{id}/differences", c.getDifferences)
	answers("GET /v1/genes", c.genes.get)
	answers("GET /v1/proposals", c.getProposals)
	answers("GET /v1/statements", c.getStatements)
	answers("GET /v1/statements/{digest}", c.getStatement)
	answers("GET /v1/sessions", c.getSessions)
	answers("GET /v1/tables", c.getTables)
	answers("GET /v1/tables/sizes", c.getSizes)
	answers("GET /v1/users", c.getUsers)
	answers("GET /v1/generators", c.getGenerators)
	answers("GET /v1/routes", c.getRoutes)
	answers("GET /v1/events", c.getEvents)
	answers("GET /v1/findings", c.getFindings)
	orders("POST /v1/findings", c.lookAgain)
	orders("POST /v1/calls/{procedure}", c.call)
	orders("POST /v1/previews/{procedure}", c.preview)
	profiles(mux, d)
	return mux
}

// scraped serves collectors in Prometheus's format.
func scraped(all ...prometheus.Collector) http.HandlerFunc {
	registry := prometheus.NewRegistry()
	registry.MustRegister(all...)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP
}

// profiles cover the whole process, so they require the role admin.
func profiles(mux *http.ServeMux, d *auth) {
	for pattern, h := range map[string]http.HandlerFunc{
		"GET /debug/pprof/": pprof.Index, "GET /debug/pprof/profile": pprof.Profile,
		"GET /debug/pprof/trace": pprof.Trace, "GET /debug/pprof/symbol": pprof.Symbol,
	} { // no handler for cmdline, because nobody needs it
		mux.Handle(pattern, d.guard(config.Admin, h))
	}
	mux.Handle("GET /debug/pprof/cmdline", http.NotFoundHandler())
}

// healthz answers that the process serves HTTP.
func healthz(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }

// Readiness returns the handler of /readyz. It answers whether this process should get new clients. A proxy that can't reach
// etcd refuses statements of a shard whose primary may change without it. It is then not ready, unless plain reads of that
// shard continue. In all other cases a proxy without etcd serves with its last state, is ready, and reports that in the
// answer.
func Readiness(p Proxy) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		s := p.Status()
		switch {
		case s.Draining:
			http.Error(w, "draining: "+fleet.Drained(s.Stopping.Since, s.Stopping.PortCloses, time.Now(), s.Sessions), http.StatusServiceUnavailable)
		case s.Live.Revision == 0:
			http.Error(w, "no cluster read yet", http.StatusServiceUnavailable)
		default:
			cut := s.Cut()
			if len(cut.Refused) > 0 {
				http.Error(w, fmt.Sprintf("etcd does not answer: statements on shards %v are refused since %s, since another of their servers may be the primary: "+
					"check etcd and the network to it; %s", cut.Refused, cut.Since.Local().Format(time.DateTime), s.Live), http.StatusServiceUnavailable)
				return
			}
			if len(cut.Stale) > 0 {
				fmt.Fprintf(w, "ok for plain reads: etcd does not answer: plain reads of shards %v go on since %s and may be stale, all other statements on them are refused: "+
					"check etcd and the network to it; %s\n", cut.Stale, cut.Since.Local().Format(time.DateTime), s.Live)
				return
			}
			fmt.Fprintf(w, "ok: %s\n", s.Live)
		}
	}
}

// Server returns an HTTP server with limits on slow and large requests.
func Server(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 60 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
}
