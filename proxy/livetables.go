package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"time"

	"locus/proxy/backend"
	"locus/proxy/schema"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// greeting bounds the question whether a shard is there at all.
const greeting = 3 * time.Second

// loadSchema reads the declared tables on the shards that can be reached, and
// gives one of those, the default shard if it is among them. A shard that is
// away is left out: its tables are looked at once it is back.
func loadSchema(ctx context.Context, pools *backend.Registry, c *cluster.Cluster, log *slog.Logger) (*schema.Loaded, schema.Querier, error) {
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
	loaded, err := schema.Load(ctx, reached, c)
	return loaded, first, err
}

func greet(ctx context.Context, q schema.Querier) error {
	ctx, cancel := context.WithTimeout(ctx, greeting)
	defer cancel()
	_, err := q.Query(ctx, "SELECT 1")
	return err
}

// watchTables reads the live tables now and then, and has the world built anew
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
		w := p.live.Load()
		loaded, _, err := loadSchema(ctx, p.pools, w.declared, slog.New(slog.DiscardHandler))
		if err != nil || sameCatalog(w, loaded) {
			continue
		}
		p.options.Log.Info("the tables on the shards have changed: reading them anew")
		b.stale.Store(true)
		p.live.Rebuild()
	}
}

// redefined has the live tables read anew, after a definition that went through
// this proxy, and waits until what they are is in force. The others are told.
func (p *Proxy) redefined(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, greeting)
	defer cancel()
	if p.options.Redefined != nil {
		if err := p.options.Redefined(ctx); err != nil {
			p.options.Log.Warn("other proxies could not be told of changed tables, and will look by themselves", "error", err)
		}
	}
	changed := p.live.Changed()
	p.Reread()
	select {
	case <-changed:
	case <-ctx.Done():
	}
}

// Reread has the live tables read anew, of which another proxy says that they have
// changed. It does not wait.
func (p *Proxy) Reread() {
	p.builder.stale.Store(true)
	p.live.Rebuild()
}

// sameCatalog tells whether the shards have what the world was built of.
func sameCatalog(w *world, l *schema.Loaded) bool {
	have, now := w.session.Catalog, l.Catalog
	if fmt.Sprint(w.problems) != fmt.Sprint(l.Problems()) {
		return false
	}
	return slices.EqualFunc(have.Tables(), now.Tables(), func(a, b *catalog.Table) bool {
		return a.TableName == b.TableName && reflect.DeepEqual(a.Columns, b.Columns)
	})
}
