package generators

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strconv"
	"sync"
	"time"

	"locus/idgen"
	"locus/idgen/buckets"
	"locus/idgen/format"
	"locus/idgen/ha"
	"locus/idgen/memcached"
	"locus/idgen/pool"
	"locus/idgen/queue"
	"locus/idgen/redis"
	"locus/idgen/segment"
	"locus/idgen/snowflake"
	"locus/router/cluster"
)

// Options are what generators are made with.
type Options struct {
	KV      segment.KV // the cluster's keys of generators
	Name    string     // this process, for people who read a key
	DataDir string     // where a snowflake remembers its worker's number
	Secrets func(name string) (string, error)
	Lazy    bool // segments are not loaded ahead: see [segment.Options]
}

// Set is the generators of a process. It is safe for concurrent use; the owner
// calls Close.
type Set struct {
	options Options
	store   *segment.CASStore

	mu   sync.RWMutex // of open; never held while one is made
	open map[string]*generator

	making sync.Mutex // what follows; held while one is made, which may wait for servers
	closed bool
	worker *snowflake.Worker // one for all snowflakes of the process
	flake  *snowflake.Generator
}

// generator is one that is open, as it was declared then: itself, and those that
// it takes its numbers from.
type generator struct {
	declared []cluster.Generator
	numbers  idgen.Numbers
	template *format.Template
	close    []func()
	report   []func(*Status)
}

// New opens nothing yet.
func New(o Options) *Set {
	return &Set{options: o, store: segment.NewCASStore(o.KV, "", o.Name, time.Now), open: map[string]*generator{}}
}

// Request asks for texts of a generator.
type Request struct {
	Declared map[string]cluster.Generator
	Name     string
	Count    int
	Context  map[string]string // values for a format's template
}

// ErrUnknown says that no generator of that name is declared.
var ErrUnknown = errors.New("no such generator is declared")

const most = 10_000 // numbers at a time

// Next makes texts: numbers in decimal, or what a template makes.
func (s *Set) Next(ctx context.Context, r Request) ([]string, error) {
	declared, known := r.Declared[r.Name]
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
	numbers := make([]uint64, r.Count)
	if err := g.numbers.Fill(ctx, numbers); err != nil {
		return nil, fmt.Errorf("generator %s: %w", r.Name, err)
	}
	texts := make([]string, r.Count)
	for i, n := range numbers {
		texts[i] = strconv.FormatUint(n, 10)
	}
	return texts, nil
}

func (s *Set) texts(ctx context.Context, g *generator, r Request) ([]string, error) {
	next := func(ctx context.Context, scope string) (uint64, error) {
		grant, err := s.store.Extend(ctx, "generator/"+r.Name+"/"+scope, 1)
		return grant.First, err
	}
	texts := make([]string, r.Count)
	for i := range texts {
		var err error
		if texts[i], err = g.template.Make(ctx, next, format.Values{Now: time.Now(), Context: r.Context}); err != nil {
			return nil, fmt.Errorf("generator %s: %w", r.Name, err)
		}
	}
	return texts, nil
}

// generator is an open one, by the declaration in force.
func (s *Set) generator(ctx context.Context, all map[string]cluster.Generator, name string) (*generator, error) {
	if g := s.opened(name); g.is(all, name) {
		return g, nil
	}
	s.making.Lock()
	defer s.making.Unlock()
	if s.closed {
		return nil, segment.ErrClosed
	}
	before := s.opened(name)
	if before.is(all, name) {
		return before, nil
	}
	g := &generator{declared: []cluster.Generator{all[name]}}
	for _, of := range all[name].Of {
		g.declared = append(g.declared, all[of])
	}
	numbers, err := s.make(ctx, all, name, g)
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

func (s *Set) opened(name string) *generator {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.open[name]
}

// is tells whether an open generator is the one that is declared.
func (g *generator) is(all map[string]cluster.Generator, name string) bool {
	if g == nil || !reflect.DeepEqual(g.declared[0], all[name]) {
		return false
	}
	for i, of := range all[name].Of {
		if !reflect.DeepEqual(g.declared[1+i], all[of]) {
			return false
		}
	}
	return true
}

func (g *generator) end() {
	for _, end := range g.close {
		end()
	}
}

// make makes a generator; making is held. Its counters are named after the kind as
// well: numbers of one kind are none of another's.
func (s *Set) make(ctx context.Context, all map[string]cluster.Generator, name string, g *generator) (idgen.Numbers, error) {
	d := all[name]
	tag := "generator/" + name
	switch d.Kind {
	case cluster.FormatGenerator:
		var err error
		g.template, err = format.Parse(d.Template, format.Parts())
		return nil, err
	case cluster.SegmentGenerator:
		return s.segments(d, tag, g)
	case cluster.RedisGenerator:
		p, err := s.pool(d, g)
		if err != nil {
			return nil, err
		}
		return p.Numbers(tag), nil
	case cluster.BucketsGenerator:
		server, err := s.redis(d, g)
		if err != nil {
			return nil, err
		}
		epochs := idgen.Run{Take: func(ctx context.Context, n int) (uint64, error) {
			grant, err := s.store.Extend(ctx, tag+"/epochs", uint64(n))
			return grant.First, err
		}}
		b := buckets.New(server, epochs, buckets.Options{Prefix: "locus:buckets:" + name + ":"})
		g.report = append(g.report, func(st *Status) {
			st.left("epoch", b.Left())
			for state, n := range b.States() {
				st.breaker("bucket", state, n)
			}
		})
		return b, nil
	case cluster.MemcachedGenerator:
		m := memcached.New(d.Server, s.store, tag, memcached.Options{})
		g.close = append(g.close, func() { _ = m.Close() })
		return m, nil
	case cluster.SnowflakeGenerator:
		flake, err := s.snowflake(ctx)
		if err == nil {
			g.report = append(g.report, func(st *Status) { st.left("time", flake.Left()) })
		}
		return flake, err
	case cluster.HAGenerator, cluster.QueueGenerator:
		return s.ofOthers(ctx, all, name, g)
	}
	return nil, fmt.Errorf("kind %q is none that this build makes", d.Kind)
}

func (s *Set) segments(d cluster.Generator, tag string, g *generator) (idgen.Numbers, error) {
	var store segment.Store = s.store
	if d.Server != "" {
		p, err := s.pool(d, g)
		if err != nil {
			return nil, err
		}
		store = p
	}
	numbers, err := segment.NewNumbers(store, tag, 0, segment.Options{MinStep: d.MinStep, MaxStep: d.MaxStep, Lazy: s.options.Lazy})
	if err != nil {
		return nil, err
	}
	g.close = append(g.close, func() { _ = numbers.Close(context.Background()) })
	g.report = append(g.report, func(st *Status) {
		st.left("sequence", numbers.Share())
		c := numbers.Counts()
		st.Counts = segment.Counts{Loads: st.Loads + c.Loads, Failed: st.Failed + c.Failed, Waits: st.Waits + c.Waits}
	})
	return numbers, nil
}

func (s *Set) redis(d cluster.Generator, g *generator) (*redis.Server, error) {
	password := ""
	if d.Secret != "" {
		var err error
		if password, err = s.options.Secrets(d.Secret); err != nil {
			return nil, err
		}
	}
	server := redis.Open(redis.Config{Address: d.Server, Password: password})
	g.close = append(g.close, func() { _ = server.Close() })
	return server, nil
}

func (s *Set) pool(d cluster.Generator, g *generator) (*pool.Pool, error) {
	server, err := s.redis(d, g)
	if err != nil {
		return nil, err
	}
	p := pool.New(server, s.store, pool.Options{Keys: d.Keys})
	g.close = append([]func(){p.Close}, g.close...)
	g.report = append(g.report, func(st *Status) {
		redis, durable := p.Breakers()
		st.breaker("redis", redis, 1)
		st.breaker("etcd", durable, 1)
	})
	return p, nil
}

// snowflake is one for the whole process: two would share its worker's number.
func (s *Set) snowflake(ctx context.Context) (*snowflake.Generator, error) {
	if s.flake == nil {
		g, w, err := snowflake.Open(ctx, s.options.KV, filepath.Join(s.options.DataDir, "snowflake"), 1024, time.Now)
		if err != nil {
			return nil, err
		}
		s.flake, s.worker = g, w
	}
	return s.flake, nil
}

// ofOthers makes generators in front of others, each with counters of its own.
func (s *Set) ofOthers(ctx context.Context, all map[string]cluster.Generator, name string, g *generator) (idgen.Numbers, error) {
	d := all[name]
	var inner []idgen.Numbers
	for i, of := range d.Of {
		own := fmt.Sprintf("%s/%d-%s", name, i, of) // a name that nobody can declare
		numbers, err := s.make(ctx, map[string]cluster.Generator{own: all[of]}, own, g)
		if err != nil {
			return nil, err
		}
		inner = append(inner, numbers)
	}
	if d.Kind == cluster.HAGenerator {
		return ha.New(ha.Options{}, inner...)
	}
	q, err := queue.New(inner[0], queue.Options{Bits: d.Bits})
	if err != nil {
		return nil, err
	}
	g.close = append([]func(){q.Close}, g.close...)
	return q, nil
}

// Close closes all.
func (s *Set) Close() error {
	s.making.Lock()
	defer s.making.Unlock()
	s.closed = true
	for _, g := range s.open {
		g.end()
	}
	if s.worker == nil {
		return nil
	}
	return s.worker.Close()
}
