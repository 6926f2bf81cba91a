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

// Options configure a Set.
type Options struct {
	KV      segment.KV // the keys of generators in etcd
	Name    string     // name of this process, for people who read the keys
	DataDir string     // directory where snowflakes store their worker's number
	// Worker configures the process's worker number in snowflakes.
	Worker  snowflake.Options
	Secrets func(name string) (string, error)
	// Ring returns the current keys that hide the sequences of formats. Ring may be nil, and may return nil if
	// there are none.
	Ring func() *cipher.Ring
	Lazy bool         // segments are not loaded ahead; see [segment.Options]
	Log  *slog.Logger // logs connections to shards; may be nil
}

// Set holds the generators of a process. It is safe for concurrent use. The owner calls Close.
type Set struct {
	options Options
	store   *segment.CASStore

	mu     sync.RWMutex // guards the fields below; never held while a generator is made
	open   map[string]*generator
	making map[string]turn // by generator name
	makers sync.WaitGroup  // goroutines that open generators
	closed bool

	counting sync.Mutex // guards the following fields; never held during a request to a server
	ended    bool
	shards   map[router.ShardName]*counters // counters of tables whose counters are on shards
	buffers  map[string]*buffer             // by counter prefix and declaration
	redis    map[string][]*redis.Server     // the servers of the buffers, by declaration

	connected generator // closes these servers

	marking turn   // guards marked; held during a request to etcd
	marked  string // empty if not known yet

	flaking turn              // guards the fields below; held while the worker is claimed
	worker  *snowflake.Worker // shared by all snowflakes of the process
	flake   *snowflake.Generator
}

// generator is an open generator, for one declaration, together with the generators from which it takes its
// numbers.
type generator struct {
	parts    []part
	under    atomic.Pointer[cluster.Cluster] // the last declaration known to be equal
	numbers  idgen.Numbers                   // of a format: the numbers of its inner generator
	template *format.Template                // nil if the generator returns numbers
	periods  *segment.Periods                // a format's own sequence, or the counters of each value
	tags     *tags                           // for a generator that serves every tag of a table
	byKey    []idgen.Numbers                 // one for each key of a redis generator, if a value of the caller chooses the key
	keyBy    string                          // the name of that value

	mu     sync.Mutex // guards the following fields, because members may be opened later
	ended  bool
	close  []func()
	report []func(*Status)
}

// atEnd registers a function that is called when the generator is closed.
func (g *generator) atEnd(do func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.close = append(g.close, do)
}

// reports registers a function that adds to the generator's status.
func (g *generator) reports(tell func(*Status)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.report = append(g.report, tell)
}

// join takes over the resources of another generator. It returns false if g has been closed.
func (g *generator) join(other *generator) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.ended {
		g.close, g.report = append(g.close, other.close...), append(g.report, other.report...)
	}
	return !g.ended
}

// New returns a Set. It opens no generator yet.
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

// HideBy sets the function that returns the current keys. It must be called before the first request.
func (s *Set) HideBy(ring func() *cipher.Ring) { s.options.Ring = ring }

// Request is a request for texts of a generator.
type Request struct {
	Declared *cluster.Cluster
	Name     string
	Count    int
	Context  map[string]string // values for a format's template
	Genes    []gene.Gene       // genes of the rows that get the texts, in the cluster's width; nil if there are none
}

// ErrUnknown reports that no generator of that name is declared.
var ErrUnknown = errors.New("no such generator is declared")

const most = 10_000 // numbers in one request

// Next returns texts: numbers in decimal, or the output of a template.
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

// numbersFor returns the source of the numbers of a request. If the generator is declared so, the caller's tag
// chooses the source, or the hash of a value does.
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

// keyed returns numbers of a generator that has a counter for each value.
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

// failed returns the error of a request. If the generator has no room for another value, it adds the remedy.
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

// is reports whether an open generator still has the current declaration.
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

// part is the declaration of one generator, and of the shards that it uses.
type part struct {
	cluster.Generator
	shards []cluster.Shard
}

// partsOf returns the declarations of a generator and of those from which it takes numbers.
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

// end closes the resources in reverse order.
func (g *generator) end() {
	g.mu.Lock()
	g.ended = true
	all := g.close
	g.mu.Unlock()
	for _, end := range slices.Backward(all) {
		end()
	}
}

// status adds the generator's state to st.
func (g *generator) status(st *Status) {
	g.mu.Lock()
	all := slices.Clone(g.report)
	g.mu.Unlock()
	for _, tell := range all {
		tell(st)
	}
}

// Close waits until no generator is being opened, and closes all of them.
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
