package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
	"locus/router/plan"
)

// numbers gives numbers to AUTO_INCREMENT columns of sharded and global tables. A counter in etcd says how
// far those of a table are given. No process holds any in advance: a number that a client
// gives is below the counter when its row is written, so nobody is given it later.
type numbers struct {
	kv     segment.KV
	name   string // of the process
	pools  *backend.Registry
	shards func() []router.ShardName
	log    *slog.Logger

	mu     sync.Mutex // of tables; never held across I/O
	tables map[numberedTable]*numbered
}

// numberedTable is a table by its name, and by that under which its numbers are counted.
type numberedTable struct{ name, counted catalog.TableName }

// numbered is one table.
type numbered struct {
	store    *segment.CASStore
	together *together.Numbers

	opening sync.Mutex  // held while the shards are asked
	ready   atomic.Bool // they were
	given   atomic.Uint64
}

// numberTime bounds one look at etcd or at the shards.
const numberTime = 5 * time.Second

// Next implements session.Numbers.
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
		return 0, err
	}
	last := into[count-1]
	of.saw(last)
	if c := &t.Columns[t.Numbered()]; last > lastNumber(c) {
		return 0, fmt.Errorf("%w: column %s of %s ends at %d, and its next number would be %d", orderid.ErrSequenceExhausted, c.Name, t.TableName, lastNumber(c), last)
	}
	return into[0], nil
}

// Raise implements session.Numbers.
func (n *numbers) Raise(ctx context.Context, t *catalog.Table, above uint64) error {
	of, err := n.of(ctx, t)
	if err != nil {
		return err
	}
	return of.raise(ctx, min(above, lastNumber(&t.Columns[t.Numbered()])))
}

// lastNumber is the last number that a column can be given. Servers don't generate the greatest BIGINT UNSIGNED.
func lastNumber(c *catalog.Column) uint64 { return min(c.LastInteger(), math.MaxUint64-1) }

// Again implements session.Numbers.
func (n *numbers) Again(ctx context.Context, t *catalog.Table) error {
	n.table(t).ready.Store(false)
	_, err := n.of(ctx, t)
	return err
}

func (n *numbers) table(t *catalog.Table) *numbered {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := numberedTable{t.TableName, t.Counted()}
	of := n.tables[key]
	if of == nil {
		of = &numbered{store: segment.NewCASStore(n.kv, cluster.CounterPrefix(key.counted, orderid.Layout{}), n.name, time.Now)}
		of.together = together.New(1, 0, of.take)
		n.tables[key] = of
	}
	return of
}

// of gives a table's numbers, above all that its shards have. Where a shard can't be asked, they
// go on from where the cluster has given them, if it has.
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
		return nil, err
	}
	of.saw(bound)
	highest, err := n.highest(ctx, t)
	switch {
	case err != nil && bound == 0:
		return nil, fmt.Errorf("what numbers are in use is not known: %w", err)
	case err != nil:
		n.log.Warn("AUTO_INCREMENT goes on without a look at what the shards have", "table", t.TableName.String(), "above", bound, "error", err)
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

// saw notes how far numbers are given at least.
func (o *numbered) saw(bound uint64) {
	for {
		known := o.given.Load()
		if bound <= known || o.given.CompareAndSwap(known, bound) {
			return
		}
	}
}

// raise has the numbers that are given from now on be above one.
func (o *numbered) raise(ctx context.Context, above uint64) error {
	if above <= o.given.Load() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, numberTime)
	defer cancel()
	bound, err := o.store.Raise(ctx, cluster.NumberCounter, above)
	if err != nil {
		return err
	}
	o.saw(bound)
	return nil
}

// nextNumber is where a server says what it would number the next row.
var nextNumber = regexp.MustCompile(` AUTO_INCREMENT=(\d+)`)

// highest is the highest number that the shards have, or have had as far as they know.
func (n *numbers) highest(ctx context.Context, t *catalog.Table) (highest uint64, err error) {
	name := plan.Quote(t.Schema) + "." + plan.Quote(t.Name)
	ask := func(shard router.ShardName) (uint64, error) {
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
		one, err := ask(shard)
		if err != nil {
			return 0, err
		}
		highest = max(highest, one)
	}
	return highest, nil
}
