package generators

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"

	"locus/idgen"
	"locus/idgen/cipher"
	"locus/idgen/format"
	"locus/idgen/gene"
	"locus/idgen/redis"
	"locus/idgen/segment"
	"locus/idgen/snowflake"
	"locus/router"
	"locus/router/cluster"
)

// Options are what generators are made with.
type Options struct {
	KV      segment.KV // the cluster's keys of generators
	Name    string     // this process, for people who read a key
	DataDir string     // where a snowflake remembers its worker's number
	// Worker are the settings of the process's worker number in snowflakes.
	Worker  snowflake.Options
	Secrets func(name string) (string, error)
	// Ring is the keys of the moment, that hide sequences of formats; nil, or where it gives nil, there are none.
	Ring func() *cipher.Ring
	Lazy bool         // segments are not loaded ahead: see [segment.Options]
	Log  *slog.Logger // of connections to shards; nil: none
}

// Set is the generators of a process. It is safe for concurrent use; the owner
// calls Close.
type Set struct {
	options Options
	store   *segment.CASStore

	mu     sync.RWMutex // guards the fields below; never held while a generator is made
	open   map[string]*generator
	making map[string]turn // by generator
	makers sync.WaitGroup  // of generators
	closed bool

	counting sync.Mutex // what follows; held across no question to a server
	ended    bool
	shards   map[router.ShardName]*counters // that grant numbers of tables
	buffers  map[string]*buffer             // in front of counters of tables, by these and what is declared
	redis    map[string][]*redis.Server     // of the buffers, by what is declared

	connected generator // to those

	marking turn   // guards marked; held during a request to etcd
	marked  string // empty: not known yet

	flaking turn              // guards the fields below; held while the worker is claimed
	worker  *snowflake.Worker // one for all snowflakes of the process
	flake   *snowflake.Generator
}

// generator is one that is open, as it was declared then: itself, and those that
// it takes its numbers from.
type generator struct {
	parts    []part
	under    atomic.Pointer[cluster.Cluster] // which declares it so
	numbers  idgen.Numbers                   // of a format, those of the generator that it is of
	template *format.Template                // nil: it makes numbers
	periods  *segment.Periods                // the own sequence of a format, or the counters for each value
	tags     *tags                           // of a generator for every tag of a table
	byKey    []idgen.Numbers                 // of a redis generator, one for each key, if the caller's value chooses
	keyBy    string                          // the name of that value

	mu     sync.Mutex // guards what follows: members may be opened later
	ended  bool
	close  []func()
	report []func(*Status)
}

// atEnd has something closed with the generator.
func (g *generator) atEnd(do func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.close = append(g.close, do)
}

// reports has something told in its status.
func (g *generator) reports(tell func(*Status)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.report = append(g.report, tell)
}

// join takes over what another one closes and reports; false if it has ended.
func (g *generator) join(other *generator) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.ended {
		g.close, g.report = append(g.close, other.close...), append(g.report, other.report...)
	}
	return !g.ended
}

// New opens nothing yet.
func New(o Options) *Set {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Ring == nil {
		o.Ring = func() *cipher.Ring { return nil }
	}
	return &Set{
		options: o, store: segment.NewCASStore(o.KV, "", o.Name, time.Now),
		open: map[string]*generator{}, making: map[string]turn{}, marking: newTurn(), flaking: newTurn(),
		shards: map[router.ShardName]*counters{}, buffers: map[string]*buffer{}, redis: map[string][]*redis.Server{},
	}
}

// HideBy gives the keys of the moment, before the first text is asked for.
func (s *Set) HideBy(ring func() *cipher.Ring) { s.options.Ring = ring }

// Request asks for texts of a generator.
type Request struct {
	Declared *cluster.Cluster
	Name     string
	Count    int
	Context  map[string]string // values for a format's template
	Genes    []gene.Gene       // of the rows that get the texts, in the width of the cluster; nil: there are none
}

// ErrUnknown says that no generator of that name is declared.
var ErrUnknown = errors.New("no such generator is declared")

const most = 10_000 // numbers at a time

// Next makes texts: numbers in decimal, or what a template makes.
func (s *Set) Next(ctx context.Context, r Request) ([]string, error) {
	declared, known := r.Declared.Generators[r.Name]
	if !known {
		return nil, fmt.Errorf("generator %q: %w", r.Name, ErrUnknown)
	}
	if r.Count < 1 || r.Count > most {
		return nil, fmt.Errorf("generator %s: %d at a time: ask for 1 to %d", r.Name, r.Count, most)
	}
	g, err := s.generator(ctx, r.Declared, r.Name)
	if err != nil {
		return nil, fmt.Errorf("generator %s: %w", r.Name, err)
	}
	if declared.Kind == cluster.FormatGenerator {
		return s.texts(ctx, g, r)
	}
	if declared.Per != "" {
		return s.keyed(ctx, g, r)
	}
	from, err := g.numbersFor(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("generator %s: %w", r.Name, err)
	}
	numbers := make([]uint64, r.Count)
	if err := from.Fill(ctx, numbers); err != nil {
		return nil, fmt.Errorf("generator %s: %w", r.Name, err)
	}
	texts := make([]string, r.Count)
	for i, n := range numbers {
		texts[i] = strconv.FormatUint(n, 10)
	}
	return texts, nil
}

// numbersFor returns the source of the numbers of a request. The caller chooses it by a tag, or by a value whose hash is that of a
// key, if the generator is declared so.
func (g *generator) numbersFor(ctx context.Context, r Request) (idgen.Numbers, error) {
	if g.tags != nil {
		return g.numbersOfTag(ctx, r)
	}
	if g.byKey == nil {
		return g.numbers, nil
	}
	key, err := format.KeyOf([]string{g.keyBy}, r.Context)
	if err != nil {
		return nil, err
	}
	return g.byKey[xxhash.Sum64String(key)%uint64(len(g.byKey))], nil
}

func (s *Set) texts(ctx context.Context, g *generator, r Request) ([]string, error) {
	numbers, err := g.numbersFor(ctx, r)
	if err != nil {
		return nil, r.failed(err)
	}
	now := time.Now()
	next := func(ctx context.Context, scope format.Scope) (uint64, error) {
		if g.periods != nil {
			return g.periods.Next(ctx, segment.Period{Name: scope.Period, At: now, Key: scope.Key})
		}
		return idgen.One(ctx, numbers)
	}
	given := format.Values{Context: r.Context, Name: r.Name}
	if ring := s.options.Ring(); ring != nil {
		given.Hider = ring
	}
	texts := make([]string, r.Count)
	for i := range texts {
		var err error
		now = time.Now()
		given.Now = now
		if r.Genes != nil {
			given.Gene, given.Width = r.Genes[i], r.Declared.Settings.GeneBits
		}
		if texts[i], err = g.template.Make(ctx, next, given); err != nil {
			return nil, r.failed(err)
		}
	}
	return texts, nil
}

// keyed returns numbers of the value for which the generator counts.
func (s *Set) keyed(ctx context.Context, g *generator, r Request) ([]string, error) {
	key, err := format.KeyOf([]string{r.Declared.Generators[r.Name].PerContext()}, r.Context)
	if err != nil {
		return nil, r.failed(err)
	}
	texts := make([]string, r.Count)
	for i := range texts {
		n, err := g.periods.Next(ctx, segment.Period{At: time.Now(), Key: key})
		if err != nil {
			return nil, r.failed(err)
		}
		texts[i] = strconv.FormatUint(n, 10)
	}
	return texts, nil
}

// failed returns the error of a request, with the remedy if there is no room for a value.
func (r Request) failed(err error) error {
	if errors.Is(err, segment.ErrTooManyKeys) {
		err = fmt.Errorf("%w: raise values: of the generator, which is %d, or stop the callers that give new ones", err, r.Declared.Generators[r.Name].Room())
	}
	return fmt.Errorf("generator %s: %w", r.Name, err)
}

// generator returns the open generator of a name, as declared now, and opens it if necessary. Several can be opened at the
// same time, so one whose servers are unresponsive delays no other.
func (s *Set) generator(ctx context.Context, c *cluster.Cluster, name string) (*generator, error) {
	if g := s.opened(name); g.is(c, name) {
		return g, nil
	}
	leave, err := s.beginMaking(ctx, name)
	if err != nil {
		return nil, err
	}
	defer leave()
	before := s.opened(name)
	if before.is(c, name) {
		return before, nil
	}
	g := &generator{parts: partsOf(c, name)}
	numbers, err := maker{s, c, g}.make(ctx, name, name)
	if err != nil {
		g.end()
		return nil, err
	}
	g.numbers = numbers
	s.mu.Lock()
	s.open[name] = g
	s.mu.Unlock()
	if before != nil {
		before.end()
	}
	return g, nil
}

// beginMaking waits until no other caller opens the generator. The caller must call leave.
func (s *Set) beginMaking(ctx context.Context, name string) (leave func(), err error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, segment.ErrClosed
	}
	turn := s.making[name]
	if turn == nil {
		turn = newTurn()
		s.making[name] = turn
	}
	s.makers.Add(1)
	s.mu.Unlock()
	if err := turn.take(ctx); err != nil {
		s.makers.Done()
		return nil, fmt.Errorf("wait until it is opened: %w", err)
	}
	return func() {
		turn.leave()
		s.makers.Done()
	}, nil
}

func (s *Set) opened(name string) *generator {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.open[name]
}

// is tells whether an open generator is the one that is declared.
func (g *generator) is(c *cluster.Cluster, name string) bool {
	if g == nil {
		return false
	}
	if g.under.Load() == c {
		return true
	}
	same := reflect.DeepEqual(g.parts, partsOf(c, name))
	if same {
		g.under.Store(c)
	}
	return same
}

// part is what is declared of one of the generators, and of the shards that it uses.
type part struct {
	cluster.Generator
	shards []cluster.Shard
}

// partsOf is a generator and those that it takes from.
func partsOf(c *cluster.Cluster, name string) []part {
	var parts []part
	for _, name := range c.GeneratorTree(name) {
		p := part{Generator: c.Generators[name]}
		for _, shard := range p.Uses() {
			p.shards = append(p.shards, c.Shards[shard])
		}
		parts = append(parts, p)
	}
	return parts
}

// end closes what was opened last first.
func (g *generator) end() {
	g.mu.Lock()
	g.ended = true
	all := g.close
	g.mu.Unlock()
	for _, end := range slices.Backward(all) {
		end()
	}
}

// status tells how it stands.
func (g *generator) status(st *Status) {
	g.mu.Lock()
	all := slices.Clone(g.report)
	g.mu.Unlock()
	for _, tell := range all {
		tell(st)
	}
}

// Close waits until no generator is being opened, and closes all.
func (s *Set) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.makers.Wait()
	for _, g := range s.open {
		g.end()
	}
	s.endCounters()
	if s.worker == nil {
		return nil
	}
	return s.worker.Close()
}
