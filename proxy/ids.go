package proxy

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"locus/idgen"
	"locus/idgen/cipher"
	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/idgen/segment"
	"locus/proxy/trace"
	"locus/router/catalog"
	"locus/router/cluster"
)

// issuers make the IDs of all tables. Each table has sequences of its own.
type issuers struct {
	kv     segment.KV
	name   string
	ring   *cipher.Ring
	groups func() int
	log    *slog.Logger
	tracer *trace.Tracer

	mu      sync.RWMutex // of what follows; never held across I/O
	byTable map[issuerKey]issuer
	all     []source

	// opening is held while the sequences of a table are opened, which may wait for
	// etcd: tables whose sequences are open don't.
	opening sync.Mutex
}

// source is the sequences of one layout of a table.
type source struct {
	*segment.Grouped
	table   catalog.TableName
	layout  orderid.Layout
	version uint32 // of the key that hides them
}

// IDs is how the IDs of a table stand, of one layout.
type IDs struct {
	Table  catalog.TableName
	Layout orderid.Layout
	// SequenceLeft is of the counter that is used most, as far as this process has
	// been granted; KeyVersionsLeft is 1 where nothing is hidden. From 1 down to 0.
	SequenceLeft, KeyVersionsLeft float64
	segment.Counts
}

// status has each layout of a table once, also where the table was declared anew
// and has two sources.
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

func (s source) status() IDs {
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
	table            catalog.TableName
	layout, overflow string
	hiding           catalog.Hiding
	segments         catalog.Segments
}

// issuer makes the IDs of one table.
type issuer interface {
	Issue(ctx context.Context, g gene.Gene, n int) (orderid.Layout, orderid.ID, error)
}

// fixed is an issuer of one layout.
type fixed struct{ ids *idgen.Issuer }

func (f fixed) Issue(ctx context.Context, g gene.Gene, n int) (orderid.Layout, orderid.ID, error) {
	first, err := f.ids.Issue(ctx, g, n)
	return f.ids.Layout(), first, err
}

// Issue implements session.IDs.
func (i *issuers) Issue(ctx context.Context, t *catalog.Table, g gene.Gene, n int) (orderid.Layout, orderid.ID, error) {
	key := issuerKey{t.TableName, t.ID.Layout, t.ID.Overflow, t.Hiding(), t.ID.Segments}
	ids := i.opened(key)
	if ids == nil {
		var err error
		if ids, err = i.open(ctx, key, t); err != nil {
			return orderid.Layout{}, orderid.ID{}, fmt.Errorf("IDs of %s: %w", t.TableName, err)
		}
	}
	return ids.Issue(ctx, g, n)
}

func (i *issuers) opened(key issuerKey) issuer {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.byTable[key]
}

func (i *issuers) open(ctx context.Context, key issuerKey, t *catalog.Table) (issuer, error) {
	i.opening.Lock()
	defer i.opening.Unlock()
	if ids := i.opened(key); ids != nil {
		return ids, nil
	}
	prefix := cluster.CounterPrefix(t.TableName, orderid.Layout{})
	version, err := KeyVersion(ctx, i.store(prefix), t.Declaration, i.ring)
	if err != nil {
		return nil, err
	}
	narrow, err := i.sequences(ctx, source{table: t.TableName, layout: t.Layout, version: version}, prefix, t.ID.Segments)
	if err != nil {
		return nil, err
	}
	var ids issuer = fixed{narrow}
	if !t.Wide.IsZero() {
		wide, err := i.sequences(ctx, source{table: t.TableName, layout: t.Wide, version: version}, cluster.CounterPrefix(t.TableName, t.Wide), t.ID.Segments)
		if err != nil {
			return nil, err
		}
		if ids, err = idgen.NewWidening(narrow, wide); err != nil {
			return nil, err
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.byTable[key] = ids
	return ids, nil
}

// sequences opens the source of one layout, whose counters' keys begin with a prefix.
// opening is held.
func (i *issuers) sequences(ctx context.Context, s source, prefix string, sizes catalog.Segments) (_ *idgen.Issuer, err error) {
	store, options := i.store(prefix).StartingAt(sizes.Start), sizes.Options()
	options.Groups, options.Observe = i.groups(), func(loaded segment.Loaded) { i.observe(prefix, loaded) }
	s.Grouped, err = segment.OpenGrouped(ctx, store, store, s.layout, options)
	if err != nil {
		return nil, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.all = append(i.all, s)
	return idgen.NewIssuer(s.layout, s.version, s.Grouped)
}

func (i *issuers) store(prefix string) *segment.CASStore {
	return segment.NewCASStore(i.kv, prefix, i.name, time.Now)
}

// nearlyFull is the share of a counter from which a warning is logged.
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

// close waits for loads under way.
func (i *issuers) close(ctx context.Context) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, s := range i.all {
		if err := s.Close(ctx); err != nil {
			i.log.Warn("close sequences", "error", err)
		}
	}
}
