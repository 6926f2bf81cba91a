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

// greetTimeout is the time limit of the query by which a shard shows that it answers.
const greetTimeout = 3 * time.Second

// findTables reads the declared tables on the shards that can be reached. It also returns one of these shards: the default
// shard if that one can be reached. A shard that is down keeps the tables that were read from it before, and is read once it
// is back.
//
// known is the earlier result, and change contains everything that may have changed since.
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

// concerned returns the shards that a change concerns.
func concerned(pools *backend.Registry, c *cluster.Cluster, change catalog.Change) map[router.ShardName]schema.Querier {
	all := map[router.ShardName]schema.Querier{}
	for _, name := range c.ShardNames() {
		if pool, ok := pools.Pool(name); ok && change.Concerns(name) {
			all[name] = schema.Pooled{Pool: pool}
		}
	}
	return all
}

// reachable returns the shards that a change concerns and that answer, one of them as [findTables] does, and the errors of those
// that don't answer.
func reachable(ctx context.Context, pools *backend.Registry, c *cluster.Cluster, change catalog.Change) (reached map[router.ShardName]schema.Querier, first schema.Querier, down []error) {
	reached = map[router.ShardName]schema.Querier{}
	all := concerned(pools, c, change)
	for _, name := range slices.SortedFunc(maps.Keys(all), router.ShardName.Compare) {
		q := all[name]
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

// Tables that no longer fit their declarations are read again up to misfitRetries times, misfitPause apart.
const (
	misfitRetries = 10
	misfitPause   = 50 * time.Millisecond
)

// settledTables is findTables that reads again, for about half a second, if tables that fitted their unchanged declarations before
// don't fit them any more. While a definition runs, one shard may finish before another, and MariaDB's information_schema omits the
// columns of a table that it can't open at that moment. Statements use the former tables meanwhile.
//
// After a definition by name, it first assumes that all shards answer, since they have just run the definition.
func (b *builder) settledTables(ctx context.Context, c *cluster.Cluster, before *catalog.Catalog, change catalog.Change) (*schema.Found, schema.Querier, error) {
	settled := func(f *schema.Found) bool { return before == nil || !b.sameTables(c) || !f.Unfits(before) }
	if !change.Everything {
		if found, err := b.findAtOnce(ctx, c, before, change); err == nil && settled(found) {
			return found, nil, nil
		}
	}
	for retry := 0; ; retry++ {
		found, first, err := findTables(ctx, b.pools, c, before, b.found, change, b.log)
		if err != nil || retry == misfitRetries || settled(found) {
			return found, first, err
		}
		select {
		case <-time.After(misfitPause):
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}

// findAtOnce reads what a change names, and fails if a shard does not answer in time.
func (b *builder) findAtOnce(ctx context.Context, c *cluster.Cluster, before *catalog.Catalog, change catalog.Change) (*schema.Found, error) {
	ctx, cancel := context.WithTimeout(ctx, greetTimeout)
	defer cancel()
	return b.found.Again(ctx, concerned(b.pools, c, change), c, before, change)
}

func greet(ctx context.Context, q schema.Querier) error {
	ctx, cancel := context.WithTimeout(ctx, greetTimeout)
	defer cancel()
	_, err := q.Query(ctx, "SELECT 1")
	return err
}

// watchTables polls the shards, and requests a new snapshot when their tables have changed: after an ALTER TABLE that a client ran directly
// on a shard, or once a shard is back.
func (p *Proxy) watchTables(ctx context.Context, b *builder) {
	ticker := time.NewTicker(p.options.SchemaRefresh)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if p.poll(ctx) {
			p.Reread()
		}
	}
}

// pollTime is the time limit of one poll. A server may stop answering after it was greeted.
const pollTime = time.Minute

// poll reports whether the tables on the shards differ from those in force. It reads the tables if the shards' markers show that
// they can have changed, or if they were read long ago. It omits the shards that another proxy has read since.
func (p *Proxy) poll(ctx context.Context) (differs bool) {
	ctx, cancel := context.WithTimeout(ctx, pollTime)
	defer cancel()
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
		p.publishVerified(ctx, found, change.Shards, now)
		p.polled.set(w, now)
		return false
	}
	p.options.Log.Info("the tables on the shards have changed: reading them again")
	return true
}

// unlistedEvery is the shortest interval between polls because of unknown names.
const unlistedEvery = 100 * time.Millisecond

// polling allows one poll because of unknown names at a time.
type polling struct {
	place chan struct{} // full during a poll
	began atomic.Int64  // start of the last poll, in nanoseconds of the clock
	count atomic.Uint64 // number of polls that have begun
}

// pollUnlisted polls the shards because a statement names a table that no shard had. It reports whether another snapshot is in
// force since. One poll serves all statements that came before it began. With waits false, it returns false if a poll is running or
// the last one began less than [unlistedEvery] ago.
func (p *Proxy) pollUnlisted(ctx context.Context, waits bool) bool {
	ctx, cancel := context.WithTimeout(ctx, greetTimeout)
	defer cancel()
	before, count := p.live.Load(), p.polling.count.Load()
	pause := func() time.Duration {
		return time.Until(time.Unix(0, p.polling.began.Load()).Add(unlistedEvery))
	}
	if !waits && (pause() > 0 || len(p.polling.place) > 0) {
		return false
	}
	select {
	case p.polling.place <- struct{}{}:
		defer func() { <-p.polling.place }()
	case <-ctx.Done():
		return false
	}
	if p.polling.count.Load() > count {
		return p.live.Load() != before
	}
	select {
	case <-time.After(pause()):
	case <-ctx.Done():
		return false
	}
	p.polling.count.Add(1)
	p.polling.began.Store(time.Now().UnixNano())
	return p.poll(ctx) && p.RereadNow(ctx) == nil
}

// redefineTimeout is the time limit of [Proxy.onAllProxies]. The other proxies have a shorter one.
const redefineTimeout = 20 * time.Second

// redefined makes all proxies read the changes of a definition of this proxy, and waits until they are in force
// on all of them. The error names the proxies that may not have read them yet.
func (p *Proxy) redefined(ctx context.Context, change catalog.Change) error {
	return p.onAllProxies(ctx, change, p.RereadChanged, p.options.Redefined)
}

// settled is redefined that also waits, at all proxies, until no statement is running that was admitted before.
func (p *Proxy) settled(ctx context.Context, change catalog.Change) error {
	return p.onAllProxies(ctx, change, p.Settle, p.options.Settled)
}

// Settle is RereadChanged that also waits until the statements that were running have ended.
func (p *Proxy) Settle(ctx context.Context, change catalog.Change) error {
	if err := p.RereadChanged(ctx, change); err != nil {
		return err
	}
	return p.sessions.waitUntilSettled(ctx, (*session.Session).Planning)
}

// Renumber forgets the last issued numbers of the counters with the change's names. It waits until no statement uses such numbers,
// neither in a session nor on a connection that was closed without an answer.
func (p *Proxy) Renumber(ctx context.Context, counted catalog.Change) error {
	p.numbers.forget(counted)
	holds := func(s *session.Session) (uint64, bool) { return s.Numbering(counted) }
	if err := p.sessions.waitUntilSettled(ctx, holds); err != nil {
		return err
	}
	return p.pools.Settle(ctx)
}

// onAllProxies makes this proxy and the others follow a change.
func (p *Proxy) onAllProxies(ctx context.Context, change catalog.Change, here, there func(context.Context, catalog.Change) error) error {
	ctx, cancel := context.WithTimeout(ctx, redefineTimeout)
	defer cancel()
	err := both(ctx, change, func(ctx context.Context, change catalog.Change) error {
		if err := here(ctx, change); err != nil {
			return fmt.Errorf("this proxy has not read the tables again: %w", err)
		}
		return nil
	}, there)
	if err != nil {
		p.options.Log.Warn("a definition is not known to every proxy yet; the others will find it at their next poll", "error", err)
	}
	return err
}

// both makes this proxy and the others follow a change at the same time. there is nil if there are no other proxies.
func both(ctx context.Context, change catalog.Change, here, there func(context.Context, catalog.Change) error) error {
	var others error
	var notifying sync.WaitGroup
	if there != nil {
		notifying.Go(func() { others = there(ctx, change) })
	}
	own := here(ctx, change)
	notifying.Wait()
	return errors.Join(own, others)
}

// Reread requests that all live tables are read again. It doesn't wait.
func (p *Proxy) Reread() { p.request(catalog.Anything) }

// request requests another read of the changed objects, and returns the number of the request.
func (p *Proxy) request(change catalog.Change) uint64 {
	number := p.builder.requests.add(change)
	p.live.Rebuild()
	return number
}

// RereadNow is Reread that waits until the results of a read after the call are in force.
func (p *Proxy) RereadNow(ctx context.Context) error { return p.RereadChanged(ctx, catalog.Anything) }

// RereadChanged reads the changed objects, and waits until the results of a read after the call are in force.
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

// has reports whether the shards have the tables that the snapshot was built from.
func (w *state) has(f *schema.Found) bool {
	return fmt.Sprint(w.problems) == fmt.Sprint(f.Problems()) && f.Same(w.snapshot.Catalog)
}
