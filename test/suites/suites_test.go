package suites

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"locus/cmd/dbserver"
	"locus/internal/test/scale"
	"locus/internal/test/servers"
	"locus/test/shop"
	"locus/test/suites/stand"
)

func TestMain(m *testing.M) { servers.Main(m) }

// suite is a row of the table.
type suite struct {
	// name is also the directory of the suite's exceptions.
	name string
	// short is the engine of the short scale. A suite without one runs in the long scale only, which runs each suite on every engine.
	short servers.Engine
	tests tests
	// databases are made, empty, at an endpoint before each run there, and the statements of setup run after that.
	databases, setup []string
	// inTurn runs the suite at one end after the other: it keeps files in one place, or the order of its statements depends on the load.
	inTurn bool
	// least is the number of cases that pass at the plain server at least. A suite that runs less is broken, and compares nothing.
	least int
	// cluster contains additional declarations for the proxy's cluster. spread are the sharded tables of which every shard
	// must have rows.
	cluster shop.Options
	spread  []string
	// plain is the engine of the plain server, if it differs from the engine of the shards.
	plain servers.Engine
	// prepareServer prepares each server of the stand.
	prepareServer func(*testing.T, *servers.Server)
	// checkProxy checks further conditions at the proxy after a run there.
	checkProxy func(*testing.T, place)
}

// tests are a way to run cases.
type tests interface {
	// prepare prepares everything that all runs share. It returns the function that runs the cases of the suite. It also
	// returns the function that runs, through the proxy, the cases that use the sharded tables of the shop, or nil if there
	// are none.
	prepare(t *testing.T) (cases, inShop run)
}

// run runs the cases of those names at a place, or all if there are no names.
type run func(t *testing.T, at place, names []string) stand.Outcomes

func TestSuites(t *testing.T) {
	t.Parallel() // parallel to the other tests of this package
	queue := make(chan suite, len(suites))
	for _, s := range suites {
		if len(s.engines()) > 0 {
			queue <- s
		}
	}
	close(queue)
	var ran atomic.Int32
	var running sync.WaitGroup
	// As many at a time as tests of t.Parallel, each with servers of its own. By t.Parallel each suite would start its servers, and then wait
	// for the runs of all others.
	for range runtime.GOMAXPROCS(0) {
		running.Go(func() {
			for s := range queue {
				t.Run(s.name, func(t *testing.T) {
					ran.Add(1)
					s.test(t)
				})
			}
		})
	}
	running.Wait()
	if ran.Load() == 0 {
		t.Errorf("no suite has run; LOCUS_TEST_SCALE=long also runs %s", strings.Join(longOnly(), ", "))
	}
}

// longOnly returns the names of the suites that the short scale leaves out.
func longOnly() (names []string) {
	for _, s := range suites {
		if s.short == "" {
			names = append(names, s.name)
		}
	}
	return names
}

func (s suite) engines() []servers.Engine {
	switch {
	case scale.Long():
		return dbserver.Engines()
	case s.short == "":
		return nil
	}
	return []servers.Engine{s.short}
}

func (s suite) test(t *testing.T) {
	cases, inShop := s.tests.prepare(t)
	for _, engine := range s.engines() {
		t.Run(string(engine), func(t *testing.T) {
			own := servers.Start(t, engine, stand.Servers)
			for _, server := range own {
				if s.prepareServer != nil {
					s.prepareServer(t, server)
				}
			}
			s.compare(t, engine, own, cases)
			if inShop != nil {
				t.Run("shop", func(t *testing.T) {
					allPass(t, engine, shop.Options{Servers: own, Spanning: s.cluster.Spanning}, inShop)
				})
			}
		})
	}
}

// fewestStatements is the least number of statements that a suite sends to the proxy. Those that make and drop its databases are fewer.
const fewestStatements = 20

// compare compares the runs at both ends.
func (s suite) compare(t *testing.T, engine servers.Engine, own []*servers.Server, cases run) {
	o := s.cluster
	o.Servers = own
	both := stand.StartWith(t, engine, o)
	if s.plain != "" && s.plain != engine {
		both.Direct = stand.Plain(t, servers.Start(t, s.plain, 1)[0])
	}
	check := both.CheckAtOnce
	if s.inTurn {
		check = both.Check
	}
	direct := check(t, s.name, func(t *testing.T, at stand.Endpoint, names []string) stand.Outcomes {
		p := s.place(t, at, engine)
		outcomes := cases(t, p, names)
		if at.Name == both.Proxy.Name {
			both.Spread(t, p.database, s.spread...)
			if s.checkProxy != nil {
				s.checkProxy(t, p)
			}
		}
		return outcomes
	})
	if passed := len(direct.With(stand.Passed)); passed < s.least {
		t.Errorf("%d cases pass at the plain server, want %d at least", passed, s.least)
	}
	if ran := both.Shop.Proxy.Status().Counts.Statements.Load(); ran < fewestStatements {
		t.Errorf("the proxy had %d statements: the suite does not use it", ran)
	}
}

// place makes the databases of the suite at an endpoint.
func (s suite) place(t *testing.T, at stand.Endpoint, engine servers.Engine) place {
	t.Helper()
	p := place{Endpoint: at, engine: engine}
	for _, name := range s.databases {
		at.Database(t, name)
	}
	if len(s.databases) > 0 {
		p.database = s.databases[0]
	}
	for _, statement := range s.setup {
		if _, err := at.DB(t, "").ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %s: %v", at.Name, statement, err)
		}
	}
	return p
}

// allPass runs cases in the shop's sharded tables. There is no other run to compare with: the cases themselves check their
// results.
func allPass(t *testing.T, engine servers.Engine, o shop.Options, cases run) {
	s := stand.StartWith(t, engine, o)
	outcomes := cases(t, place{Endpoint: s.Proxy, engine: engine, database: s.Shop.Schema}, nil)
	t.Logf("%s: %s", engine, outcomes)
	if len(outcomes) == 0 {
		t.Error("no case ran")
	}
	for name, o := range outcomes {
		if o.State != stand.Passed {
			t.Errorf("%s is %s: %s", name, o.State, o.Detail)
		}
	}
}

func TestTable(t *testing.T) {
	var names []string
	for _, s := range suites {
		if s.tests == nil || len(s.databases) == 0 || s.least == 0 {
			t.Errorf("%s lacks tests, a database or the least number of cases", s.name)
		}
		if slices.Contains(names, s.name) {
			t.Errorf("two suites have the name %s", s.name)
		}
		names = append(names, s.name)
	}
}
