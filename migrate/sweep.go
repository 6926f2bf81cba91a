package migrate

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"locus/migrate/link"
)

// sweeper ends what proxies that are gone have open where a stream of a job by sequence writes, as long as that is late. Clients
// lock copies of rows there, too: statements by owner look at all rows of the owner. So a proxy that is stopped, in the middle of a
// transaction, would keep the stream waiting for as long as the server does not notice.
type sweeper struct {
	store Store
	log   *slog.Logger
}

const (
	// sweepEvery is between two looks. A connection is ended that was nobody's in both: one that has just been made is marked
	// in less.
	sweepEvery = time.Second
	// sweepLag is how late a stream is that may be kept waiting.
	sweepLag = time.Second
)

// run looks until ctx ends.
func (w sweeper) run(ctx context.Context, s *stream, at link.Server) {
	var c *link.Conn
	defer func() { hangUp(c) }()
	var before []uint64
	for pause(ctx, sweepEvery) == nil {
		if s.lag(time.Now()) < sweepLag {
			before = nil
			continue
		}
		now, err := w.look(ctx, &c, at, before)
		if err != nil && ctx.Err() == nil {
			w.log.Warn("look for connections of proxies that are gone", "shard", at.Addr, "error", err)
		}
		before = now
	}
}

// look ends the connections that were orphaned before and still are, and gives those that are now.
func (w sweeper) look(ctx context.Context, c **link.Conn, at link.Server, before []uint64) (now []uint64, err error) {
	proxies, err := w.store.Proxies(ctx)
	if err != nil {
		return nil, err
	}
	if *c == nil || (*c).Broken() != nil {
		hangUp(*c)
		if *c, err = link.Dial(ctx, at); err != nil {
			return nil, err
		}
	}
	if now, err = orphaned(ctx, *c, proxies); err != nil {
		return nil, err
	}
	left := slices.DeleteFunc(slices.Clone(now), func(id uint64) bool { return !slices.Contains(before, id) })
	if len(left) == 0 {
		return now, nil
	}
	w.log.Warn("connections of proxies that are gone are ended: a stream waits", "shard", at.Addr, "connections", len(left))
	return now, kill(ctx, *c, left)
}
