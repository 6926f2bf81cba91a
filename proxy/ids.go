package proxy

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"locus/idgen"
	"locus/idgen/cipher"
	"locus/idgen/orderid"
	"locus/idgen/segment"
	"locus/router/catalog"
	"locus/router/gene"
)

// issuers make the IDs of all tables. Each table has sequences of its own.
type issuers struct {
	kv     segment.KV
	name   string
	ring   *cipher.Ring
	groups func() int
	log    *slog.Logger

	mu      sync.RWMutex
	byTable map[issuerKey]*idgen.Issuer
	all     []*segment.Segments
}

type issuerKey struct {
	table  catalog.TableName
	layout string
}

// Issue implements session.IDs.
func (i *issuers) Issue(ctx context.Context, t *catalog.Table, g gene.Gene, n int) (orderid.ID, error) {
	key := issuerKey{t.TableName, t.ID.Layout}
	i.mu.RLock()
	issuer := i.byTable[key]
	i.mu.RUnlock()
	if issuer == nil {
		var err error
		if issuer, err = i.open(ctx, key, t); err != nil {
			return orderid.ID{}, err
		}
	}
	return issuer.Issue(ctx, g, n)
}

func (i *issuers) open(ctx context.Context, key issuerKey, t *catalog.Table) (*idgen.Issuer, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if issuer := i.byTable[key]; issuer != nil {
		return issuer, nil
	}
	store := segment.NewCASStore(i.kv, t.TableName.String()+"/", i.name, time.Now)
	if err := store.PinGroups(ctx, i.groups()); err != nil {
		return nil, fmt.Errorf("IDs of %s: %w", t.TableName, err)
	}
	segments, err := segment.New(store, t.Layout, segment.Options{Groups: i.groups(), Observe: i.observe})
	if err != nil {
		return nil, fmt.Errorf("IDs of %s: %w", t.TableName, err)
	}
	version := uint32(0)
	if i.ring != nil && t.Layout.VersionBits() > 0 && t.OrderNumberColumn >= 0 {
		version = i.ring.Current()
	}
	issuer, err := idgen.NewIssuer(t.Layout, version, segments)
	if err != nil {
		return nil, fmt.Errorf("IDs of %s: %w", t.TableName, err)
	}
	i.byTable[key] = issuer
	i.all = append(i.all, segments)
	return issuer, nil
}

// nearlyFull is the share of a counter from which a warning is logged.
const nearlyFull = 0.8

func (i *issuers) observe(l segment.Loaded) {
	switch {
	case l.Err != nil:
		i.log.Warn("sequence numbers not granted", "counter", l.Counter, "error", l.Err)
	case float64(l.Grant.Last) > nearlyFull*float64(l.Max):
		i.log.Warn("sequence numbers are running out", "counter", l.Counter, "granted", l.Grant.Last, "max", l.Max)
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
