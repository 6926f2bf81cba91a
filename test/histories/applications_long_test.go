//go:build long

package histories

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"locus/internal/test/link"
	"locus/internal/test/servers"
	"locus/migrate/cutover"
	"locus/migrate/phase"
	harness "locus/test/cluster"
)

// login is how an application logs in to a server, or to the proxies.
type login struct{ addr, user, password string }

// application is a program whose tables are imported while it is used.
type application interface {
	// schema returns the schema of its tables.
	schema() string
	// prepare makes them, with rows, where nothing is yet.
	prepare(t *testing.T, at login)
	// beside creates its tables that are not imported, as on the server outside.
	beside(t *testing.T, outside *servers.Server, at login)
	// imported returns the other tables, with their declarations.
	imported() string
	// growing returns a table that gets more rows while the application is used.
	growing() string
	// use runs the application until stop is called, which returns the errors that it received.
	use(t *testing.T, at login) (stop func() []string)
	// check checks its data, whatever has failed.
	check(t *testing.T, at login)
}

// stage is a world in which an application's tables are imported.
type stage struct {
	*world
	app    application
	at     login           // the proxies
	source *servers.Server // has the tables at first, and every row until the import is finished
}

// openStage opens a world whose shards all own genes.
func openStage(t *testing.T, engine servers.Engine, app application) *stage {
	t.Helper()
	w := openAs(t, engine, world{genes: "  0x5555 s0\n  0xaaaa s1\n  0xffff s2\n", granted: ", scatter_writes: allow"})
	w.stride = 100
	w.startProxies(t)
	s := &stage{world: w, app: app, at: login{w.entrance(t).Addr(), "app", servers.Password}, source: w.Shards[0].Server}
	s.execute(t, "CREATE DATABASE "+app.schema())
	return s
}

// entrance returns a link to a proxy for an application. It leads to another proxy if that one fails.
func (w *world) entrance(t *testing.T) *link.Link {
	t.Helper()
	l := link.New(t, "")
	ctx, end := context.WithCancel(t.Context())
	var leading sync.WaitGroup
	leading.Go(func() {
		for ; ctx.Err() == nil; pause(ctx, look) {
			var serving []string
			for _, p := range w.Proxies {
				if addr := p.Addr(); addr != "" {
					serving = append(serving, addr)
				}
			}
			if len(serving) > 0 && !slices.Contains(serving, l.Target()) {
				l.Lead(serving[len(serving)-1])
			}
		}
	})
	t.Cleanup(func() { end(); leading.Wait() })
	harness.Until(t, "a proxy is led to", func() (bool, error) { return l.Target() != "", nil })
	return l
}

// execute runs a statement by way of a proxy.
func (s *stage) execute(t *testing.T, query string) {
	t.Helper()
	db := client(s.Proxies[0].Addr(), false)
	defer db.Close()
	if _, err := db.Exec(query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// fromShard imports undeclared tables of an application while it uses them through the proxies.
func fromShard(t *testing.T, engine servers.Engine, app application) {
	s := openStage(t, engine, app)
	app.prepare(t, s.at)
	stop := s.use(t, s.at)
	s.planImportOf(t, splitting, app.imported())
	s.comes(t, phase.Copying, phase.CatchingUp, phase.Verifying, phase.Ready)
	s.killRunner(t)
	s.comes(t, phase.Ready)
	for _, to := range []float64{100, 0} {
		s.cutWhole(t, to)
		s.grows(t, s.at)
		stop()
		s.holds(t, s.at)
		stop = s.use(t, s.at)
	}
	killShard := fault{"kill a shard that rows go to", func(w *world, t *testing.T, _ int) func() { return w.killServer(t, 1) }}
	for _, f := range []struct {
		when  moment
		point string
		fault fault
	}{
		{at, cutover.BeforePosition, killMover},
		{after, cutover.BeforeCommit, killProxy},
		{at, cutover.AfterCommit, killSource},
		{after, cutover.BeforeReverse, killShard},
	} {
		s.strike(t, f.when, f.point, f.fault)
		s.grows(t, s.at)
	}
	s.cutWhole(t, 100)
	s.grows(t, s.at)
	stop()
	s.holds(t, s.at)
	stop = s.use(t, s.at)
	s.finish(t, splitting)
	s.comes(t, phase.Done)
	stop()
	app.check(t, s.at)
	s.spread(t)
}

// fromServer imports them from a server outside of the cluster. The application first uses that server, then
// the proxies, that server again, and finally the proxies.
func fromServer(t *testing.T, engine servers.Engine, app application) {
	s := openStage(t, engine, app)
	s.source = servers.Start(t, engine, 1)[0]
	s.source.Exec(t, "CREATE DATABASE "+app.schema())
	there := login{s.source.Addr(), s.source.User, s.source.Password}
	app.prepare(t, there)
	app.beside(t, s.source, s.at)
	stop := s.use(t, there)
	s.planOutside(t, splitting, s.source, app.imported())
	s.comes(t, phase.Copying, phase.CatchingUp, phase.Verifying, phase.Ready)
	s.killRunner(t)
	s.killServer(t, 1)()
	s.comes(t, phase.Ready)
	s.grows(t, there)
	stop()
	killOutside := fault{"kill the server outside", func(_ *world, t *testing.T, _ int) func() {
		if err := s.source.Kill(); err != nil {
			t.Fatal(err)
		}
		return func() { s.source.Restart(t) }
	}}
	s.strike(t, at, cutover.BeforeCommit, killMover)
	s.strike(t, after, cutover.BeforePosition, killOutside)
	s.comesIn(t)
	s.holds(t, s.at)

	stop = s.use(t, s.at)
	s.grows(t, s.at)
	s.killProxy(t, 0)
	s.startProxy(t, 0)
	s.killRunner(t)
	s.killServer(t, 2)()
	s.grows(t, s.at)
	stop()
	s.holds(t, s.at)

	s.cutWhole(t, 0)
	s.holds(t, there)
	stop = s.use(t, there)
	s.grows(t, there)
	stop()
	s.holds(t, there)

	s.comesIn(t)
	stop = s.use(t, s.at)
	s.grows(t, s.at)
	s.finish(t, splitting)
	s.comes(t, phase.Done)
	stop()
	app.check(t, s.at)
	s.spread(t)
}

// comesIn shards the tables, and waits until every proxy knows: the switch locks them on the server outside,
// and doesn't hold statements of the proxies' clients.
func (s *stage) comesIn(t *testing.T) {
	t.Helper()
	s.cutWhole(t, 100)
	for _, p := range s.Proxies {
		db := client(p.Addr(), false)
		harness.Until(t, "a proxy knows the tables", func() (bool, error) {
			_, err := db.Exec("SELECT 1 FROM " + s.app.schema() + "." + s.app.growing() + " LIMIT 1")
			return err == nil, err
		})
		_ = db.Close()
	}
}

// use runs the application until stop is called. An error that it receives fails the test, unless a fault
// explains it.
func (s *stage) use(t *testing.T, at login) (stop func()) {
	t.Helper()
	end := s.app.use(t, at)
	return func() {
		t.Helper()
		texts := map[string]int{}
		for _, text := range end() {
			texts[text]++
		}
		for text, n := range texts {
			if !s.explained(text) {
				t.Errorf("%d times, where nothing was struck that explains it: %s", n, text)
				continue
			}
			t.Logf("%d times: %s", n, text)
		}
	}
}

var (
	numbered       = regexp.MustCompile(`Error (\d+)`)
	restart        = regexp.MustCompile(`(?i)try restarting transaction|please retry transaction`) // 1205 and 1213 from a program that doesn't report the number; 1412
	lostConnection = regexp.MustCompile(`(?i)invalid connection|bad connection|EOF|broken pipe|connection re(fused|set)|gone away|lost connection`)
)

func (s *stage) explained(text string) bool {
	if restart.MatchString(text) || len(s.struck.processes) > 0 && lostConnection.MatchString(text) {
		return true
	}
	f := failure{text: text}
	if number := numbered.FindStringSubmatch(text); number != nil {
		_, _ = fmt.Sscan(number[1], &f.code)
	}
	return s.struck.excuses(f)
}

// comes waits until the import is in one of the phases: longer than for the few rows of other tests.
func (s *stage) comes(t *testing.T, phases ...phase.Phase) {
	t.Helper()
	began := time.Now()
	for ; ; pause(t.Context(), look) {
		found, err := s.Jobs.Read(t.Context(), splitting)
		switch {
		case err == nil && found.Job.State.Phase == phase.Failed:
			s.failed(t, found.Job)
		case err == nil && slices.Contains(phases, found.Job.State.Phase):
			t.Logf("the import is %s after %v more", found.Job.State.Phase, time.Since(began).Round(time.Second))
			return
		case time.Since(began) > 15*time.Minute:
			t.Fatalf("the import is not %v; %v", phases, err)
		}
	}
}

// killRunner kills the process that runs the job.
func (s *stage) killRunner(t *testing.T) {
	t.Helper()
	mover := -1
	harness.Until(t, "somebody runs the job", func() (bool, error) {
		name, err := s.claimant(t)
		mover = slices.IndexFunc(s.Proxies, func(p *harness.Proxy) bool { return name != "" && p.Addr() == name })
		return mover >= 0, err
	})
	s.killProxy(t, mover)
	s.startProxy(t, mover)
}

// grows waits until the application has made rows.
func (s *stage) grows(t *testing.T, at login) {
	t.Helper()
	db := at.open(t, s.app.schema())
	before := -1
	harness.Until(t, "the application gets on", func() (bool, error) {
		var n int
		err := db.QueryRow("SELECT COUNT(*) FROM " + s.app.growing()).Scan(&n)
		if err == nil && before < 0 {
			before = n
		}
		return err == nil && n > before+20, err
	})
}

// holds lets the application check its data while nobody uses it, and compares the servers.
func (s *stage) holds(t *testing.T, at login) {
	t.Helper()
	s.app.check(t, at)
	s.alike(t)
}
