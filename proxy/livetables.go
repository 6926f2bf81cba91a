package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"locus/proxy/backend"
	"locus/proxy/schema"
	"locus/proxy/session"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// greeting bounds the question whether a shard is there at all.
const greeting = 3 * time.Second

// findTables reads the declared tables on the shards that can be reached, and
// gives one of those, the default shard if it is among them. A shard that is
// away is left out: its tables are looked at once it is back, and until then what it
// had before stands.
//
// Known is what was found before, and change what can have changed since.
func findTables(ctx context.Context, pools *backend.Registry, c *cluster.Cluster, before *catalog.Catalog, known *schema.Found, change catalog.Change, log *slog.Logger) (*schema.Found, schema.Querier, error) {
	reached, first, down := reachable(ctx, pools, c, change)
	if first == nil {
		return nil, nil, fmt.Errorf("no shard can be reached: %w", errors.Join(down...))
	}
	for _, err := range down {
		log.Warn("tables are not compared with a shard that is down", "error", err)
	}
	found, err := known.Again(ctx, reached, c, before, change)
	return found, first, err
}

// reachable returns the shards that a change concerns and that answer, one of them, which is the default shard if that one
// answers, and why the others don't.
func reachable(ctx context.Context, pools *backend.Registry, c *cluster.Cluster, change catalog.Change) (reached map[router.ShardName]schema.Querier, first schema.Querier, down []error) {
	reached = map[router.ShardName]schema.Querier{}
	for _, name := range c.ShardNames() {
		pool, ok := pools.Pool(name)
		if !ok || !change.Concerns(name) {
			continue
		}
		q := schema.Pooled{Pool: pool}
		if err := greet(ctx, q); err != nil {
			down = append(down, fmt.Errorf("shard %s: %w", name, err))
			continue
		}
		reached[name] = q
		if first == nil || name == c.Settings.DefaultShard {
			first = q
		}
	}
	return reached, first, down
}

// How often, and after which pause, tables are looked at again that have just ceased to fit.
const (
	looksAgain = 10
	lookPause  = 50 * time.Millisecond
)

// settledTables is findTables that looks again, for half a second or so, if tables do not fit what they are declared as, did before, and
// nobody has declared anything else.
// While a definition runs on the shards one may be done before the other, and MariaDB's information_schema leaves out the columns of
// a table that it can't open just then. Statements go on by what is known meanwhile.
func (b *builder) settledTables(ctx context.Context, c *cluster.Cluster, before *catalog.Catalog, change catalog.Change) (*schema.Found, schema.Querier, error) {
	for look := 0; ; look++ {
		found, first, err := findTables(ctx, b.pools, c, before, b.found, change, b.log)
		if err != nil || look == looksAgain || before == nil || !b.sameTables(c) || !found.Unfits(before) {
			return found, first, err
		}
		select {
		case <-time.After(lookPause):
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}

func greet(ctx context.Context, q schema.Querier) error {
	ctx, cancel := context.WithTimeout(ctx, greeting)
	defer cancel()
	_, err := q.Query(ctx, "SELECT 1")
	return err
}

// watchTables reads the live tables now and then, and has the snapshot built anew
// when they are no longer as they were: after an ALTER TABLE that somebody ran on
// the shards, or once a shard is back or a table is mended.
func (p *Proxy) watchTables(ctx context.Context, b *builder) {
	ticker := time.NewTicker(p.options.SchemaRefresh)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if p.look(ctx) {
			p.Reread()
		}
	}
}

// look reports whether the live tables are no longer as they were. It reads those of a shard only if the shard's marker says that they
// can have changed, or if that was long ago, and if no other proxy has read them since.
func (p *Proxy) look(ctx context.Context) (differs bool) {
	w := p.live.Load()
	reached, first, _ := reachable(ctx, p.pools, w.declared, catalog.Anything)
	now := markersOf(ctx, reached)
	if first == nil || p.polled.same(w, now) {
		return false
	}
	for _, shard := range p.verified(ctx, w, now) {
		delete(reached, shard)
	}
	if len(reached) == 0 {
		p.polled.set(w, now)
		return false
	}
	change := catalog.Change{Everything: true, Shards: slices.Collect(maps.Keys(reached))}
	found, err := w.found.Again(ctx, reached, w.declared, w.snapshot.Catalog, change)
	if err != nil {
		return false
	}
	if w.has(found) {
		p.verify(ctx, found, change.Shards, now)
		p.polled.set(w, now)
		return false
	}
	p.options.Log.Info("the tables on the shards have changed: reading them again")
	return true
}

// unlistedEvery is the pause between looks at the shards that names which nobody knows
// ask for.
const unlistedEvery = 100 * time.Millisecond

// looking is the look that unknown names ask for, one at a time.
type looking struct {
	place chan struct{} // holds one while somebody looks
	began atomic.Int64  // the last look, in nanoseconds of the clock
	count atomic.Uint64 // of looks that have begun
}

// unlisted looks at the shards again, as a statement names what no shard had. A look that
// began after the statement came serves all who wait.
func (p *Proxy) unlisted(ctx context.Context, waits bool) bool {
	ctx, cancel := context.WithTimeout(ctx, greeting)
	defer cancel()
	before, count := p.live.Load(), p.looking.count.Load()
	pause := func() time.Duration {
		return time.Until(time.Unix(0, p.looking.began.Load()).Add(unlistedEvery))
	}
	if !waits && (pause() > 0 || len(p.looking.place) > 0) {
		return false
	}
	select {
	case p.looking.place <- struct{}{}:
		defer func() { <-p.looking.place }()
	case <-ctx.Done():
		return false
	}
	if p.looking.count.Load() > count {
		return p.live.Load() != before
	}
	select {
	case <-time.After(pause()):
	case <-ctx.Done():
		return false
	}
	p.looking.count.Add(1)
	p.looking.began.Store(time.Now().UnixNano())
	return p.look(ctx) && p.RereadNow(ctx) == nil
}

// redefining bounds it: that of the others has a bound of its own, which is shorter.
const redefining = 20 * time.Second

// redefined reads what a definition of this proxy has changed, here and at the other proxies, and waits until it is in force.
// The error names the proxies that may not know of it yet.
func (p *Proxy) redefined(ctx context.Context, change catalog.Change) error {
	return p.everybody(ctx, change, p.RereadChanged, p.options.Redefined)
}

// settled is redefined that also waits until no statement is running that was admitted before, here and at the others.
func (p *Proxy) settled(ctx context.Context, change catalog.Change) error {
	return p.everybody(ctx, change, p.Settle, p.options.Settled)
}

// Settle is RereadChanged that also waits until the statements have ended that were running then.
func (p *Proxy) Settle(ctx context.Context, change catalog.Change) error {
	if err := p.RereadChanged(ctx, change); err != nil {
		return err
	}
	return p.sessions.settle(ctx, (*session.Session).Planning)
}

// Renumber forgets how far numbers are given that are counted under the change's names, and waits until no statement holds such
// numbers, here or on a connection that was closed without an answer.
func (p *Proxy) Renumber(ctx context.Context, counted catalog.Change) error {
	p.numbers.forget(counted)
	holds := func(s *session.Session) (uint64, bool) { return s.Numbering(counted) }
	if err := p.sessions.settle(ctx, holds); err != nil {
		return err
	}
	return p.pools.Settle(ctx)
}

// everybody makes this proxy and the others follow a change.
func (p *Proxy) everybody(ctx context.Context, change catalog.Change, here, there func(context.Context, catalog.Change) error) error {
	ctx, cancel := context.WithTimeout(ctx, redefining)
	defer cancel()
	err := both(ctx, change, func(ctx context.Context, change catalog.Change) error {
		if err := here(ctx, change); err != nil {
			return fmt.Errorf("this proxy has not read the tables anew: %w", err)
		}
		return nil
	}, there)
	if err != nil {
		p.options.Log.Warn("a definition is not known to every proxy yet, which will look by themselves", "error", err)
	}
	return err
}

// both makes this proxy, and the others unless there is nil, follow a change at once.
func both(ctx context.Context, change catalog.Change, here, there func(context.Context, catalog.Change) error) error {
	var others error
	var telling sync.WaitGroup
	if there != nil {
		telling.Go(func() { others = there(ctx, change) })
	}
	own := here(ctx, change)
	telling.Wait()
	return errors.Join(own, others)
}

// Reread requests that all live tables are read again. It doesn't wait.
func (p *Proxy) Reread() { p.request(catalog.Anything) }

// request requests that what has changed is read again, and returns the number of the request.
func (p *Proxy) request(change catalog.Change) uint64 {
	number := p.builder.requests.add(change)
	p.live.Rebuild()
	return number
}

// RereadNow is Reread that waits until what was read after the call is in force.
func (p *Proxy) RereadNow(ctx context.Context) error { return p.RereadChanged(ctx, catalog.Anything) }

// RereadChanged reads what has changed, and waits until what was read after the call is in force.
func (p *Proxy) RereadChanged(ctx context.Context, change catalog.Change) error {
	if change.OnlyDeclared() {
		return p.live.Confirm(ctx)
	}
	for number := p.request(change); ; {
		changed := p.live.Changed()
		if p.live.Load().asked >= number {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// has tells whether the shards have what the snapshot was built of.
func (w *state) has(f *schema.Found) bool {
	return fmt.Sprint(w.problems) == fmt.Sprint(f.Problems()) && f.Same(w.snapshot.Catalog)
}
