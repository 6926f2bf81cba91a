package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"locus/idgen/orderid"
	"locus/idgen/segment"
	"locus/idgen/together"
	"locus/proxy/backend"
	"locus/proxy/schema"
	"locus/proxy/stamp"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
	"locus/router/plan"
)

// numbers generates numbers for AUTO_INCREMENT columns of sharded and global tables. A counter in etcd stores the last number that
// was issued for a table. No process reserves numbers in advance. The counter is raised to a number that a client gives before its
// row is written, so that number is never generated later.
type numbers struct {
	kv     segment.KV
	name   string // name of the process
	pools  *backend.Registry
	shards func() []router.ShardName
	log    *slog.Logger
	// catalog returns the current tables.
	catalog func() *catalog.Catalog
	// countersOf returns the name under which a declared table is counted.
	countersOf func(catalog.TableName) catalog.TableName
	// forgetEverywhere makes every proxy forget the last issued numbers of the change's counters. It waits until no statement uses
	// such numbers.
	forgetEverywhere func(ctx context.Context, counted catalog.Change) error
	// lease returns the ID of the lease by which other proxies know that this one must be asked, or 0 if it has none. May be nil.
	lease func() int64

	mu     sync.Mutex // guards tables; never held across I/O
	tables map[numberedTable]*numbered
}

// numberedTable is a table's name, and the name under which its numbers are counted.
type numberedTable struct{ name, counted catalog.TableName }

// numbered counts the numbers of one table.
type numbered struct {
	store    *segment.CASStore
	together *together.Numbers
	lease    int64 // the lease when it was opened; after a new lease it is opened again, because the counter may have been lowered meanwhile

	opening sync.Mutex    // held while the shards are queried
	ready   atomic.Bool   // the shards were queried
	given   atomic.Uint64 // numbers up to this one are given, perhaps more
}

const (
	// numberTime is the time limit of one query of etcd or of the shards.
	numberTime = 5 * time.Second
	// renumberTime is the time limit of setting a counter to another number.
	renumberTime = 3 * numberTime
)

// Next implements stamp.Numbers.
func (n *numbers) Next(ctx context.Context, t *catalog.Table, count int) (uint64, error) {
	of, err := n.of(ctx, t)
	if err != nil {
		return 0, err
	}
	if c := &t.Columns[t.Numbered()]; of.given.Load() >= lastNumber(c) {
		return 0, fmt.Errorf("%w: column %s of %s ends at %d, and all numbers up to %d are given", orderid.ErrSequenceExhausted, c.Name, t.TableName, lastNumber(c), of.given.Load())
	}
	into := make([]uint64, count)
	if err := of.together.Fill(ctx, into); errors.Is(err, segment.ErrEnd) {
		return 0, fmt.Errorf("%w: %w", orderid.ErrSequenceExhausted, err)
	} else if err != nil {
		return 0, waitable(err)
	}
	last := into[count-1]
	of.noteGiven(last)
	if c := &t.Columns[t.Numbered()]; last > lastNumber(c) {
		return 0, fmt.Errorf("%w: column %s of %s ends at %d, and its next number would be %d", orderid.ErrSequenceExhausted, c.Name, t.TableName, lastNumber(c), last)
	}
	return into[0], nil
}

// Raise implements stamp.Numbers.
func (n *numbers) Raise(ctx context.Context, t *catalog.Table, above uint64) error {
	of, err := n.of(ctx, t)
	if err != nil {
		return err
	}
	return of.raise(ctx, min(above, lastNumber(&t.Columns[t.Numbered()])))
}

// lastNumber returns the greatest number that can be generated for a column. Servers don't generate the greatest BIGINT UNSIGNED.
func lastNumber(c *catalog.Column) uint64 { return min(c.LastInteger(), math.MaxUint64-1) }

// Renumber implements ddl.Services.
func (n *numbers) Renumber(ctx context.Context, t *catalog.Table) error {
	ctx, cancel := context.WithTimeout(ctx, renumberTime)
	defer cancel()
	n.forgetTable(t)
	store := n.store(t.Counted())
	bound, err := store.Bound(ctx, cluster.NumberCounter)
	if err != nil {
		return waitable(err)
	}
	if highest, err := n.highestCounted(ctx, t); err != nil || bound <= highest {
		if err == nil {
			_, err = n.of(ctx, t)
		}
		return err
	}
	pause, err := store.Pause(ctx, cluster.NumberCounter)
	if err != nil {
		return err
	}
	to, lowered := n.lower(ctx, t)
	if lowered != nil {
		to = pause.Bound
	}
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), numberTime)
	defer cancel()
	return errors.Join(lowered, store.Resume(ctx, pause, to))
}

// lower returns the bound at which a paused counter may be resumed, once no statement uses earlier numbers.
func (n *numbers) lower(ctx context.Context, t *catalog.Table) (uint64, error) {
	if err := n.forgetEverywhere(ctx, catalog.Change{Tables: []catalog.TableName{t.Counted()}}); err != nil {
		return 0, err
	}
	return n.highestCounted(ctx, t)
}

// highestCounted returns the highest number of all tables that share the counter of a table.
func (n *numbers) highestCounted(ctx context.Context, t *catalog.Table) (highest uint64, err error) {
	all := n.catalog()
	for name, err := range all.Broken() {
		if _, nowhere := errors.AsType[*catalog.MissingTableError](err); !nowhere && n.countersOf(name) == t.Counted() {
			return 0, fmt.Errorf("table %s, which is counted together with it, does not fit its declaration: %w", name, err)
		}
	}
	for _, other := range all.Tables() {
		if other.Counted() != t.Counted() || other.Kind == catalog.Single || other.Numbered() < 0 {
			continue
		}
		one, err := n.highest(ctx, other)
		if err != nil {
			return 0, err
		}
		highest = max(highest, min(one, lastNumber(&other.Columns[other.Numbered()])))
	}
	return highest, nil
}

// forget forgets the last issued numbers of the counters with the change's names.
func (n *numbers) forget(counted catalog.Change) {
	n.mu.Lock()
	defer n.mu.Unlock()
	maps.DeleteFunc(n.tables, func(key numberedTable, _ *numbered) bool { return counted.Names(key.counted) })
}

// forgetTable makes the next call of [numbers.of] query the shards for the highest number of a table again.
func (n *numbers) forgetTable(t *catalog.Table) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.tables, numberedTable{t.TableName, t.Counted()})
}

func (n *numbers) store(counted catalog.TableName) *segment.CASStore {
	return segment.NewCASStore(n.kv, cluster.CounterPrefix(counted, orderid.Layout{}), n.name, time.Now)
}

// waitable adds to the error of a paused counter that a statement may wait for it.
func waitable(err error) error {
	if paused, is := errors.AsType[*segment.PausedError](err); is {
		return stamp.Paused(err, paused.Wait)
	}
	return err
}

func (n *numbers) table(t *catalog.Table) *numbered {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := numberedTable{t.TableName, t.Counted()}
	of, lease := n.tables[key], n.leased()
	if of == nil || lease != of.lease && lease != 0 {
		of = &numbered{store: n.store(key.counted), lease: lease}
		of.together = together.New(1, 0, of.take)
		n.tables[key] = of
	}
	return of
}

func (n *numbers) leased() int64 {
	if n.lease == nil {
		return 0
	}
	return n.lease()
}

// of returns a table's numbers, raised above the numbers in its shards' rows. If a shard can't be queried, they continue above
// the bound in etcd, if there is one.
func (n *numbers) of(ctx context.Context, t *catalog.Table) (*numbered, error) {
	of := n.table(t)
	if of.ready.Load() {
		return of, nil
	}
	of.opening.Lock()
	defer of.opening.Unlock()
	if of.ready.Load() {
		return of, nil
	}
	ctx, cancel := context.WithTimeout(ctx, numberTime)
	defer cancel()
	bound, err := of.store.Bound(ctx, cluster.NumberCounter)
	if err != nil {
		return nil, waitable(err)
	}
	of.noteGiven(bound)
	highest, err := n.highest(ctx, t)
	switch {
	case err != nil && bound == 0:
		return nil, fmt.Errorf("it is unknown which numbers are in use: %w", err)
	case err != nil:
		n.log.Warn("AUTO_INCREMENT continues without a check of the shards' numbers", "table", t.TableName.String(), "above", bound, "error", err)
	default:
		if err := of.raise(ctx, min(highest, lastNumber(&t.Columns[t.Numbered()]))); err != nil {
			return nil, err
		}
	}
	of.ready.Store(true)
	return of, nil
}

func (o *numbered) take(ctx context.Context, n int) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, numberTime)
	defer cancel()
	grant, err := o.store.Extend(ctx, cluster.NumberCounter, uint64(n))
	return grant.First, err
}

// noteGiven records that numbers up to bound are given.
func (o *numbered) noteGiven(bound uint64) {
	for {
		known := o.given.Load()
		if bound <= known || o.given.CompareAndSwap(known, bound) {
			return
		}
	}
}

// raise makes all later numbers greater than above.
func (o *numbered) raise(ctx context.Context, above uint64) error {
	if above <= o.given.Load() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, numberTime)
	defer cancel()
	bound, err := o.store.Raise(ctx, cluster.NumberCounter, above)
	if err != nil {
		return waitable(err)
	}
	o.noteGiven(bound)
	return nil
}

// nextNumber matches the next number of a table among its options in SHOW CREATE TABLE. A comment may contain the same words.
var nextNumber = regexp.MustCompile(`\n\)(?: /\*!\d+ TABLESPACE .*? \*/)? ENGINE=\w+ AUTO_INCREMENT=(\d+)`)

// highest returns the highest number that a table has on the shards, or had as far as their AUTO_INCREMENT shows.
func (n *numbers) highest(ctx context.Context, t *catalog.Table) (highest uint64, err error) {
	name := plan.Quote(t.Schema) + "." + plan.Quote(t.Name)
	query := func(shard router.ShardName) (uint64, error) {
		pool, ok := n.pools.Pool(shard)
		if !ok {
			return 0, fmt.Errorf("shard %s is not registered", shard)
		}
		q := schema.Pooled{Pool: pool}
		rows, err := q.Query(ctx, "SELECT GREATEST(0, COALESCE(MAX("+plan.Quote(t.Columns[t.Numbered()].Name)+"), 0)) FROM "+name)
		if err != nil {
			return 0, fmt.Errorf("shard %s: %w", shard, err)
		}
		made, err := q.Query(ctx, "SHOW CREATE TABLE "+name)
		if err != nil {
			return 0, fmt.Errorf("shard %s: %w", shard, err)
		}
		if len(rows) != 1 || len(made) != 1 || len(made[0]) < 2 {
			return 0, errors.New("shard " + string(shard) + " answered without a row")
		}
		most, err := strconv.ParseUint(string(rows[0][0]), 10, 64)
		if next := nextNumber.FindSubmatch(made[0][1]); err == nil && next != nil {
			var after uint64
			if after, err = strconv.ParseUint(string(next[1]), 10, 64); after > 0 {
				most = max(most, after-1)
			}
		}
		return most, err
	}
	for _, shard := range n.shards() {
		one, err := query(shard)
		if lost, is := errors.AsType[*backend.LostError](err); is { // a read has no effect to report
			err = fmt.Errorf("no answer of shard %s at %s: %w", lost.Shard, lost.Addr, lost.Err)
		}
		if err != nil {
			return 0, err
		}
		highest = max(highest, one)
	}
	return highest, nil
}
