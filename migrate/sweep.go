package migrate

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"locus/migrate/link"
)

// sweeper ends connections of dead proxies on the server to which a stream of a job by sequence writes, while
// the stream is late. Clients lock copies of rows there too, because statements by owner read all rows of the
// owner. A proxy that is suspended in the middle of a transaction would block the stream until the server
// notices.
type sweeper struct {
	store Store
	log   *slog.Logger
}

const (
	// sweepEvery is the interval between two checks. A connection is ended if both checks find it unmarked. A
	// new connection is marked sooner than that.
	sweepEvery = time.Second
	// sweepLag is the lag from which a stream counts as late.
	sweepLag = time.Second
)

// run checks repeatedly until ctx ends.
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

// look ends the connections that were orphaned at the last call and still are. It returns the connections that are orphaned
// now.
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
