package generators

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"locus/idgen"
	"locus/idgen/format"
	"locus/idgen/ha"
	"locus/idgen/queue"
	"locus/idgen/segment"
	"locus/idgen/snowflake"
	"locus/router/cluster"
)

// maker opens a generator and the generators from which it takes numbers.
type maker struct {
	*Set
	declared *cluster.Cluster
	into     *generator
}

// make opens the generator of a name. counter names its counters, which differ for each generator that takes
// numbers from it.
func (m maker) make(ctx context.Context, name, counter string) (idgen.Numbers, error) {
	d := m.declared.Generators[name]
	tag := "generator/" + counter
	switch d.Kind {
	case cluster.FormatGenerator:
		return m.format(ctx, name, counter)
	case cluster.SegmentGenerator:
		return m.segments(ctx, name, tag)
	case cluster.RedisGenerator:
		p, err := m.pool(ctx, name)
		if err != nil {
			return nil, err
		}
		if d.KeyBy != "" {
			m.into.byKey, m.into.keyBy = p.NumbersByKey(tag), d.KeyContext()
		}
		return p.Numbers(tag), nil
	case cluster.BucketsGenerator:
		return m.buckets(ctx, d, counter)
	case cluster.MemcachedGenerator:
		return m.memcached(ctx, name, tag)
	case cluster.RowGenerator:
		return m.row(ctx, name)
	case cluster.AutoIncrementGenerator:
		return m.autoIncrement(ctx, name, counter)
	case cluster.SnowflakeGenerator:
		flake, err := m.snowflake(ctx)
		if err != nil {
			return nil, err
		}
		since := flake.Since(d.Since())
		m.into.reports(func(st *Status) { st.left("time", since.Left()) })
		return since, nil
	case cluster.HAGenerator, cluster.QueueGenerator:
		return m.ofOthers(ctx, name, counter)
	}
	return nil, fmt.Errorf("this build does not know kind %q", d.Kind)
}

func (m maker) segments(ctx context.Context, name, tag string) (idgen.Numbers, error) {
	d := m.declared.Generators[name]
	if d.Per != "" {
		m.periods(segment.Keyed{CASStore: m.store, Limit: d.Room()}, tag, d)
		return nil, nil
	}
	if d.EveryTag() {
		return nil, m.everyTag(name, tag)
	}
	store, err := m.front(ctx, name)
	if err != nil {
		return nil, err
	}
	numbers, err := m.numbersOf(store, tag, d)
	if err != nil {
		return nil, err
	}
	m.into.atEnd(func() { _ = numbers.Close(context.Background()) })
	m.into.reports(func(st *Status) {
		st.left("sequence", numbers.Share())
		c := numbers.Counts()
		st.Counts = segment.Counts{Loads: st.Loads + c.Loads, Failed: st.Failed + c.Failed, Waits: st.Waits + c.Waits}
	})
	return numbers, nil
}

// numbersOf returns the numbers of a store, with the declared segment sizes.
func (m maker) numbersOf(store granter, tag string, d cluster.Generator) (*segment.Numbers, error) {
	o := d.Segments()
	o.Lazy = m.options.Lazy
	if store.step != nil && d.MinStep == 0 {
		o.Step, o.MinStep = store.step, 1
	}
	return segment.NewNumbers(store, tag, 0, o)
}

// format opens a template and its sequence, which is another generator's or its own.
func (m maker) format(ctx context.Context, name, counter string) (idgen.Numbers, error) {
	d, tag := m.declared.Generators[name], "generator/"+counter
	t, err := format.Parse(d.Template, format.Parts())
	if err != nil {
		return nil, err
	}
	if version := t.Sequence().Hidden; version != 0 {
		if err := m.pinKey(ctx, name, version); err != nil {
			return nil, err
		}
	}
	m.into.template = t
	if len(d.Of) > 0 {
		return m.ofOthers(ctx, name, counter)
	}
	store := segment.PeriodStore(m.store)
	switch {
	case t.Keyed():
		store = segment.Keyed{CASStore: m.store, Limit: d.Room()}
	case !t.Scoped():
		store = segment.OnePeriod{Store: m.counters(name)}
		tag += "/" // the counter of the single period, which used to count one by one
	}
	m.periods(store, tag, d)
	return nil, nil
}

// periods opens a sequence that restarts with each period, or that has a counter for each value.
func (m maker) periods(store segment.PeriodStore, tag string, d cluster.Generator) {
	o := d.Segments()
	if m.options.Lazy {
		o.Preload = 100
	}
	m.into.periods = segment.NewPeriods(timedPeriods{store}, tag, o)
	m.into.atEnd(m.into.periods.Close)
}

// ofOthers opens a generator that takes numbers from others, each with its own counters.
func (m maker) ofOthers(ctx context.Context, name, counter string) (idgen.Numbers, error) {
	d := m.declared.Generators[name]
	if d.Kind == cluster.HAGenerator {
		return m.ha(ctx, name, counter)
	}
	inner, err := m.make(ctx, d.Of[0], counterOf(counter, 0, d.Of[0]))
	if err != nil {
		return nil, err
	}
	if d.Kind == cluster.FormatGenerator {
		return m.ahead(inner, name)
	}
	return m.queued(inner, name)
}

// counterOf returns the name of an inner generator's counters. It contains a slash, so no declared generator
// can have it.
func counterOf(counter string, i int, of string) string {
	return fmt.Sprintf("%s/%d-%s", counter, i, of)
}

func (m maker) ha(ctx context.Context, name, counter string) (idgen.Numbers, error) {
	of := m.declared.Generators[name].Of
	limits := m.limits(name, counter, of)
	inner, err := m.membersOf(ctx, of, counter, cmp.Or(limits.Timeout, time.Second))
	if err != nil {
		return nil, err
	}
	g, err := ha.New(limits, inner...)
	if err != nil {
		return nil, err
	}
	m.members(counter, g, of)
	return m.ahead(g, name)
}

// ahead fetches numbers before they are requested, if each of them would otherwise cost a request.
func (m maker) ahead(numbers idgen.Numbers, name string) (idgen.Numbers, error) {
	if !m.declared.FetchesAhead(name) {
		return numbers, nil
	}
	return m.queued(numbers, name)
}

func (m maker) queued(numbers idgen.Numbers, name string) (idgen.Numbers, error) {
	q, err := queue.New(numbers, m.declared.Generators[name].Queue())
	if err != nil {
		return nil, err
	}
	m.into.atEnd(q.Close)
	return q, nil
}

// limits returns the options of an ha or auto_increment generator. Changes of its members' states are logged.
func (m maker) limits(name, counter string, members []string) ha.Options {
	o := m.declared.Generators[name].Limits.Options()
	o.Changed = func(one ha.Member) {
		log := m.options.Log.Warn
		if one.State == ha.Well {
			log = m.options.Log.Info
		}
		log("member of a generator changed", "generator", counter, "member", members[one.Index], "state", one.State.String(), "error", one.Err)
	}
	return o
}

// members registers a generator to be closed, and its members to be reported.
func (m maker) members(counter string, g interface {
	Members() []ha.Member
	Close()
}, names []string,
) {
	m.into.atEnd(g.Close)
	m.into.reports(func(st *Status) {
		for _, one := range g.Members() {
			st.Members = append(st.Members, Member{Of: counter, Name: names[one.Index], State: one.State, Err: one.Err})
		}
	})
}

// snowflake returns the single snowflake generator of the process. Two of them would use the same worker
// number.
func (s *Set) snowflake(ctx context.Context) (*snowflake.Generator, error) {
	if err := s.flaking.take(ctx); err != nil {
		return nil, fmt.Errorf("wait for the worker's number: %w", err)
	}
	defer s.flaking.leave()
	if s.flake == nil {
		g, w, err := snowflake.Open(ctx, s.options.KV, filepath.Join(s.options.DataDir, "snowflake"), s.options.Worker)
		if err != nil {
			return nil, err
		}
		s.flake, s.worker = g, w
	}
	return s.flake, nil
}
