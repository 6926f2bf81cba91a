package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"locus/proxy/backend"
	"locus/proxy/schema"
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
func findTables(ctx context.Context, pools *backend.Registry, c *cluster.Cluster, before *catalog.Catalog, log *slog.Logger) (*schema.Found, schema.Querier, error) {
	reached := map[router.ShardName]schema.Querier{}
	var away []error
	var first schema.Querier
	for _, name := range c.ShardNames() {
		pool, ok := pools.Pool(name)
		if !ok {
			continue
		}
		q := schema.Pooled{Pool: pool}
		if err := greet(ctx, q); err != nil {
			away = append(away, fmt.Errorf("shard %s: %w", name, err))
			continue
		}
		reached[name] = q
		if first == nil || name == c.Settings.DefaultShard {
			first = q
		}
	}
	if first == nil {
		return nil, nil, fmt.Errorf("no shard can be reached: %w", errors.Join(away...))
	}
	for _, err := range away {
		log.Warn("tables are not compared with a shard that is away", "error", err)
	}
	found, err := schema.Find(ctx, reached, c, before)
	return found, first, err
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
func (b *builder) settledTables(ctx context.Context, c *cluster.Cluster, before *catalog.Catalog) (*schema.Found, schema.Querier, error) {
	for look := 0; ; look++ {
		found, first, err := findTables(ctx, b.pools, c, before, b.log)
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

// look reads the live tables, and tells whether they are no longer as they were.
func (p *Proxy) look(ctx context.Context) (differs bool) {
	w := p.live.Load()
	found, _, err := findTables(ctx, p.pools, w.declared, w.snapshot.Catalog, slog.New(slog.DiscardHandler))
	if err != nil || w.has(found) {
		return false
	}
	p.options.Log.Info("the tables on the shards have changed: reading them anew")
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

// redefined has the live tables read anew, by the other proxies too, after a definition
// that went through this one, and waits until what they are is in force. The error says
// who may not know of it yet.
func (p *Proxy) redefined(ctx context.Context) error {
	return p.everybody(ctx, p.RereadNow, p.options.Redefined)
}

// settled is redefined that waits also until nothing is under way that was let on before, here and at the others.
func (p *Proxy) settled(ctx context.Context) error {
	return p.everybody(ctx, p.Settle, p.options.Settled)
}

// Settle is RereadNow that waits also until the statements have ended that were under way then.
func (p *Proxy) Settle(ctx context.Context) error {
	if err := p.RereadNow(ctx); err != nil {
		return err
	}
	return p.sessions.settle(ctx)
}

// everybody has this proxy do something, and the others too.
func (p *Proxy) everybody(ctx context.Context, here, there func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, redefining)
	defer cancel()
	var others error
	var telling sync.WaitGroup
	if there != nil {
		telling.Go(func() { others = there(ctx) })
	}
	own := here(ctx)
	telling.Wait()
	if own != nil {
		own = fmt.Errorf("this proxy has not read the tables anew: %w", own)
	}
	err := errors.Join(own, others)
	if err != nil {
		p.options.Log.Warn("a definition is not known to every proxy yet, which will look by themselves", "error", err)
	}
	return err
}

// Reread has the live tables read anew, which may have changed. It does not wait.
func (p *Proxy) Reread() { p.ask() }

// ask has the live tables read anew, and gives the number of the request.
func (p *Proxy) ask() uint64 {
	number := p.builder.asked.Add(1)
	p.builder.stale.Store(true)
	p.live.Rebuild()
	return number
}

// RereadNow is Reread that waits until what was read after the call is in force.
func (p *Proxy) RereadNow(ctx context.Context) error {
	for number := p.ask(); ; {
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
