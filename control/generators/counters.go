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

// countersTable has one row for each counter of tables' IDs.
const countersTable = "locus.sequence"

// counters gives access to the rows on one shard, opened for one declaration of the shard.
type counters struct {
	generator // resources to close, and their status
	shard     cluster.Shard
	db        *sql.DB
	rows      *row.Table
	made      atomic.Bool // the table exists
}

// CounterStore returns the store that grants the numbers of a table's IDs, as declared: the witness itself, or
// rows on a shard that the witness guards. A Redis may be in front of either.
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

// shardStore returns a store whose numbers are granted by rows on a shard. Only proxies take numbers from these
// rows. So a missing or outdated row is raised to the witness, which records every grant.
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

// countersOn returns the table on a shard, and creates it if it does not exist.
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

// countersOf returns the counters of a shard. It sends no query, so an unreachable shard does not block the
// counters of the others.
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

// endCounters closes all counters for good: the buffers first, then the shards behind them.
func (s *Set) endCounters() {
	s.counting.Lock()
	s.ended = true
	buffers, shards := s.buffers, s.shards // both are not changed after ended is set
	s.counting.Unlock()
	for _, b := range buffers { // their background fills query the shards
		b.end()
	}
	s.connected.end()
	for _, c := range shards {
		c.end()
	}
}
