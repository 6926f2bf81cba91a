package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"locus/idgen"
	"locus/idgen/cipher"
	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/idgen/segment"
	"locus/proxy/trace"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// issuers issues the IDs of all tables. Each table has sequences of its own.
type issuers struct {
	kv     segment.KV
	name   string
	ring   func() *cipher.Ring
	groups func() int
	// declared returns the current declaration of a table.
	declared func(catalog.TableName) catalog.Declaration
	// otherStore returns the store of counters that are on a shard or behind a Redis. The witness in etcd records each grant of
	// that store.
	otherStore func(sizes catalog.Segments, prefix string, witness *segment.CASStore) (segment.Store, error)
	log        *slog.Logger
	tracer     *trace.Tracer

	mu      sync.RWMutex // guards the fields below; never held across I/O
	byTable map[issuerKey]*opened
	all     []*source

	// opening is held while the sequences of a table are opened, which may wait for etcd. Tables whose sequences are open don't
	// take it. It also guards version.
	opening sync.Mutex
	version uint32 // key version of new IDs; 0: not known yet
}

// opened is the issuer of a table, with its sequences. It is never changed, only replaced.
type opened struct {
	issuer
	version      uint32 // key version; 0: IDs are not hidden
	narrow, wide *source
}

// source contains the sequences of one layout of a table.
type source struct {
	*segment.Grouped
	table   catalog.TableName
	layout  orderid.Layout
	version uint32 // version of the key that hides the IDs; guarded by issuers.mu
}

// IDs describes the remaining IDs of a table in one layout.
type IDs struct {
	Table  catalog.TableName
	Layout orderid.Layout
	// SequenceLeft is the unused share of the counter that is used most, by the grants of this process. KeyVersionsLeft is the
	// unused share of the key versions, and 1 if IDs are not hidden. Both fall from 1 to 0.
	SequenceLeft, KeyVersionsLeft float64
	segment.Counts
}

// status returns one entry for each layout of a table, even if the table was declared again and has two sources.
func (i *issuers) status() []IDs {
	i.mu.RLock()
	defer i.mu.RUnlock()
	var all []IDs
	for _, s := range i.all {
		of := s.status()
		same := slices.IndexFunc(all, func(other IDs) bool { return other.Table == of.Table && other.Layout == of.Layout })
		if same < 0 {
			all = append(all, of)
			continue
		}
		all[same] = all[same].with(of)
	}
	return all
}

func (s *source) status() IDs {
	of := IDs{Table: s.table, Layout: s.layout, SequenceLeft: s.Share(), KeyVersionsLeft: 1, Counts: s.Counts()}
	if last := s.layout.MaxVersion(); last > 0 {
		of.KeyVersionsLeft = 1 - float64(s.version)/float64(last)
	}
	return of
}

func (i IDs) with(other IDs) IDs {
	i.SequenceLeft = min(i.SequenceLeft, other.SequenceLeft)
	i.KeyVersionsLeft = min(i.KeyVersionsLeft, other.KeyVersionsLeft)
	i.Counts = segment.Counts{Loads: i.Loads + other.Loads, Failed: i.Failed + other.Failed, Waits: i.Waits + other.Waits}
	return i
}

type issuerKey struct {
	table, counted   catalog.TableName
	layout, overflow string
	hiding           catalog.Hiding
	segments         catalog.Segments // the segments' options without the store and Redis
	shard            router.ShardName // stores the counters; empty: etcd alone does
	redis            string           // address of the Redis in front of the counters; empty: none
}

func keyOf(t *catalog.Table) issuerKey {
	key := issuerKey{t.TableName, t.Counted(), t.ID.Layout, t.ID.Overflow, t.Hiding(), t.ID.Segments, t.ID.Segments.Shard(), t.ID.Segments.Redis.Text()}
	key.segments.Store, key.segments.Redis = nil, nil // these pointers differ between equal declarations
	return key
}

// issuer issues the IDs of one table.
type issuer interface {
	Issue(ctx context.Context, g gene.Gene, n int) (orderid.Layout, orderid.ID, error)
}

// fixed is an issuer with a single layout.
type fixed struct{ ids *idgen.Issuer }

func (f fixed) Issue(ctx context.Context, g gene.Gene, n int) (orderid.Layout, orderid.ID, error) {
	first, err := f.ids.Issue(ctx, g, n)
	return f.ids.Layout(), first, err
}

// Issue implements [stamp.IDs].
func (i *issuers) Issue(ctx context.Context, t *catalog.Table, g gene.Gene, n int) (orderid.Layout, orderid.ID, error) {
	key := keyOf(t)
	ids := i.opened(key)
	if ids == nil {
		var err error
		if ids, err = i.open(ctx, key, t); err != nil {
			return orderid.Layout{}, orderid.ID{}, fmt.Errorf("IDs of %s: %w", t.TableName, err)
		}
	}
	return ids.Issue(ctx, g, n)
}

func (i *issuers) opened(key issuerKey) *opened {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.byTable[key]
}

func (i *issuers) open(ctx context.Context, key issuerKey, t *catalog.Table) (*opened, error) {
	i.opening.Lock()
	defer i.opening.Unlock()
	if ids := i.opened(key); ids != nil {
		return ids, nil
	}
	prefix := cluster.CounterPrefix(t.Counted(), orderid.Layout{})
	version, err := PinKeyVersion(ctx, i.store(prefix), t.Declaration, i.ring(), i.version)
	if err != nil {
		return nil, err
	}
	ids := &opened{version: version}
	if ids.narrow, err = i.sequences(ctx, &source{table: t.TableName, layout: t.Layout}, prefix, t.ID.Segments); err != nil {
		return nil, err
	}
	if !t.Wide.IsZero() {
		if ids.wide, err = i.sequences(ctx, &source{table: t.TableName, layout: t.Wide}, cluster.CounterPrefix(t.Counted(), t.Wide), t.ID.Segments); err != nil {
			return nil, err
		}
	}
	if err := ids.setIssuer(); err != nil {
		return nil, err
	}
	i.put(key, ids)
	return ids, nil
}

// setIssuer sets o's issuer from its sequences and version.
func (o *opened) setIssuer() error {
	narrow, err := idgen.NewIssuer(o.narrow.layout, o.version, o.narrow.Grouped)
	if err != nil || o.wide == nil {
		o.issuer = fixed{narrow}
		return err
	}
	wide, err := idgen.NewIssuer(o.wide.layout, o.version, o.wide.Grouped)
	if err != nil {
		return err
	}
	o.issuer, err = idgen.NewWidening(narrow, wide)
	return err
}

func (i *issuers) put(key issuerKey, ids *opened) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.byTable[key] = ids
	ids.narrow.version = ids.version
	if ids.wide != nil {
		ids.wide.version = ids.version
	}
}

// setVersion makes new IDs carry another key version, from the same sequences. The error names the tables that continue with the
// former version.
func (i *issuers) setVersion(ctx context.Context, version uint32) error {
	i.opening.Lock()
	defer i.opening.Unlock()
	i.version = version
	i.mu.RLock()
	all := maps.Clone(i.byTable)
	i.mu.RUnlock()
	var problems []error
	for key, ids := range all {
		if ids.version == version || key.hiding == catalog.InClear {
			continue
		}
		if d := i.declared(key.table); d.Hiding() != key.hiding { // no statement stamps with this key any more
			i.forget(key)
			continue
		}
		if err := i.changeVersion(ctx, key, *ids); err != nil {
			problems = append(problems, fmt.Errorf("IDs of %s: %w", key.table, err))
		}
	}
	return errors.Join(problems...)
}

// changeVersion replaces the issuer of a table by one with the current version. It opens no sequences again, so it needs etcd only
// to pin the version.
func (i *issuers) changeVersion(ctx context.Context, key issuerKey, next opened) (err error) {
	store := i.store(cluster.CounterPrefix(key.counted, orderid.Layout{}))
	if next.version, err = PinKeyVersion(ctx, store, i.declared(key.table), i.ring(), i.version); err != nil {
		return err
	}
	if err := next.setIssuer(); err != nil {
		return err
	}
	i.put(key, &next)
	return nil
}

func (i *issuers) forget(key issuerKey) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.byTable, key)
}

// sequences opens the source of one layout. The keys of its counters begin with prefix. The caller holds opening.
func (i *issuers) sequences(ctx context.Context, s *source, prefix string, sizes catalog.Segments) (_ *source, err error) {
	witness, options := i.store(prefix).StartingAt(sizes.Start), sizes.Options()
	store := segment.Store(witness)
	if !sizes.Plain() {
		if store, err = i.otherStore(sizes, prefix, witness); err != nil {
			return nil, err
		}
	}
	options.Groups, options.Observe = i.groups(), func(loaded segment.Loaded) { i.observe(prefix, loaded) }
	s.Grouped, err = segment.OpenGrouped(ctx, witness, store, s.layout, options)
	if err != nil {
		return nil, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.all = append(i.all, s)
	return s, nil
}

func (i *issuers) store(prefix string) *segment.CASStore {
	return segment.NewCASStore(i.kv, prefix, i.name, time.Now)
}

// nearlyFull is the used share of a counter from which a warning is logged.
const nearlyFull = 0.8

func (i *issuers) observe(prefix string, l segment.Loaded) {
	now := time.Now()
	i.tracer.Segment(trace.Segment{Counter: prefix + l.Counter, Size: l.Size, Began: now.Add(-l.Took), Ended: now, Failed: l.Err != nil})
	switch {
	case l.Err != nil:
		i.log.Warn("sequence numbers not granted", "counter", prefix+l.Counter, "error", l.Err)
	case float64(l.Grant.Last) > nearlyFull*float64(l.Max):
		i.log.Warn("sequence numbers are running out", "counter", prefix+l.Counter, "granted", l.Grant.Last, "max", l.Max)
	}
}

// close waits for loads in progress.
func (i *issuers) close(ctx context.Context) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, s := range i.all {
		if err := s.Close(ctx); err != nil {
			i.log.Warn("close sequences", "error", err)
		}
	}
}
