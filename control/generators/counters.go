package generators

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
	"time"

	"locus/idgen/row"
	"locus/idgen/segment"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// countersTable has a row for each counter of tables' IDs.
const countersTable = "locus.sequence"

// counters are the rows on one shard, as it was declared then.
type counters struct {
	generator // what is closed at the end
	shard     cluster.Shard
	db        *sql.DB
	rows      *row.Table
	made      atomic.Bool // the table is there
}

// CounterStore grants the numbers of the counters of a table's IDs as they are declared: by the witness, or by rows on
// a shard that it watches over, and from a Redis in front of either.
func (s *Set) CounterStore(declared func() *cluster.Cluster, sizes catalog.Segments, prefix string, witness *segment.CASStore) (segment.Store, error) {
	store := segment.Store(witness)
	if shard := sizes.Shard(); shard != "" {
		store = s.shardStore(declared, shard, prefix, witness)
	}
	if sizes.Redis == nil {
		return store, nil
	}
	return s.buffered(declared, sizes, prefix, store)
}

// shardStore has rows on a shard grant the numbers of the witness's counters. Proxies
// alone take from them, so a row that is missing, or behind, is raised to the witness:
// it knows all that was granted, whoever granted it.
func (s *Set) shardStore(declared func() *cluster.Cluster, shard router.ShardName, prefix string, witness *segment.CASStore) segment.Store {
	return extend(func(ctx context.Context, counter string, n uint64) (segment.Grant, error) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		g, err := s.extendOn(ctx, declared(), shard, prefix, witness, counter, n)
		if err != nil {
			return segment.Grant{}, fmt.Errorf("row %s of %s on shard %s: %w", prefix+counter, countersTable, shard, err)
		}
		return g, nil
	})
}

func (s *Set) extendOn(ctx context.Context, c *cluster.Cluster, shard router.ShardName, prefix string, witness *segment.CASStore, counter string, n uint64) (segment.Grant, error) {
	rows, err := s.countersOn(ctx, c, shard)
	if err != nil {
		return segment.Grant{}, err
	}
	witnessed := segment.NewWitnessed(extend(func(ctx context.Context, counter string, n uint64) (segment.Grant, error) {
		return rows.Extend(ctx, prefix+counter, n)
	}), witness)
	g, err := witnessed.Extend(ctx, counter, n)
	if !errors.Is(err, segment.ErrUnknownTag) && !errors.Is(err, segment.ErrWentBack) {
		return g, err
	}
	bound, err := witness.Bound(ctx, counter)
	if err != nil {
		return segment.Grant{}, err
	}
	if err := rows.Raise(ctx, prefix+counter, bound); err != nil {
		return segment.Grant{}, err
	}
	return witnessed.Extend(ctx, counter, n)
}

// countersOn is the table on a shard, which is made if it is not there.
func (s *Set) countersOn(ctx context.Context, declared *cluster.Cluster, shard router.ShardName) (*row.Table, error) {
	c, err := s.countersOf(declared, shard)
	if err != nil || c.made.Load() {
		return c.rows, err
	}
	if _, err := c.db.ExecContext(ctx, createSchema); err != nil {
		return nil, err
	}
	if err := c.rows.Create(ctx, 1); err != nil {
		return nil, err
	}
	c.made.Store(true)
	return c.rows, nil
}

// countersOf asks no server, so that one that is away holds up nobody who counts on another.
func (s *Set) countersOf(declared *cluster.Cluster, shard router.ShardName) (*counters, error) {
	s.counting.Lock()
	defer s.counting.Unlock()
	before := s.shards[shard]
	if before != nil && reflect.DeepEqual(before.shard, declared.Shards[shard]) {
		return before, nil
	}
	now := &counters{shard: declared.Shards[shard]}
	if s.ended {
		return now, segment.ErrClosed
	}
	var err error
	if now.db, err = (maker{s, declared, &now.generator}).database(shard); err != nil {
		return now, err
	}
	if now.rows, err = row.Open(now.db, countersTable, time.Now); err != nil {
		now.end()
		return now, err
	}
	s.shards[shard] = now
	if before != nil {
		before.end()
	}
	return now, nil
}

// endCounters closes all, for good: what stands in front first.
func (s *Set) endCounters() {
	s.counting.Lock()
	s.ended = true
	buffers, shards := s.buffers, s.shards // which nobody changes any more
	s.counting.Unlock()
	for _, b := range buffers { // whose fills in the background ask shards
		b.end()
	}
	s.connected.end()
	for _, c := range shards {
		c.end()
	}
}
