package migrate

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"locus/migrate/applier"
	"locus/migrate/changes"
	"locus/migrate/link"
)

// stream carries the changes of one server to the other, for as long as it runs.
type stream struct {
	*applier.Applier
	gauge
	feed    *changes.Feed
	from    link.Server
	cancel  context.CancelFunc
	running sync.WaitGroup
	failed  chan struct{} // closed when it has ended by itself
	err     error         // then, why
}

// openStream begins a stream where it was, or now. Beside runs with it, until its context ends; may be nil.
func openStream(ctx context.Context, from link.Server, config applier.Config, beside func(context.Context, *stream)) (*stream, error) {
	a, err := applier.Open(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("take over stream %s: %w", config.Job, err)
	}
	flavor, err := beginWhere(ctx, a, from)
	if err != nil {
		return nil, err
	}
	position, err := a.From()
	if err != nil {
		return nil, err
	}
	feed, err := changes.Open(from, flavor, config.Tables, position)
	if err != nil {
		return nil, fmt.Errorf("read the log of %s: %w", from.Addr, err)
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	st := &stream{Applier: a, feed: feed, from: from, cancel: cancel, failed: make(chan struct{})}
	st.running.Go(func() { st.measure(running) })
	if beside != nil {
		st.running.Go(func() { beside(running, st) })
	}
	st.running.Go(func() {
		defer feed.Close()
		err := a.Run(running, feed)
		if running.Err() == nil {
			st.err = fmt.Errorf("stream %s: %w", config.Job, err)
			close(st.failed)
		}
	})
	return st, nil
}

// beginWhere has a stream that has no position begin at the log's end.
func beginWhere(ctx context.Context, a *applier.Applier, from link.Server) (link.Flavor, error) {
	c, err := link.Dial(ctx, from)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if _, err := a.From(); errors.Is(err, applier.ErrNotBegun) {
		now, err := changes.Current(ctx, c)
		if err != nil {
			return "", err
		}
		if err := a.Begin(ctx, now); err != nil {
			return "", err
		}
	}
	return c.Version().Flavor, nil
}

func (s *stream) stop() {
	s.cancel()
	s.running.Wait()
}

// ended is why the stream has ended by itself, or nil while it runs.
func (s *stream) ended() error {
	select {
	case <-s.failed:
		return s.err
	default:
		return nil
	}
}

// caughtUp waits until the stream has applied what its server has logged by now.
func (s *stream) caughtUp(ctx context.Context) error {
	c, err := link.Dial(ctx, s.from)
	if err != nil {
		return err
	}
	defer c.Close()
	return s.hasAllOf(ctx, c)
}

// hasAllOf is caughtUp for who has a connection to the server that is read.
func (s *stream) hasAllOf(ctx context.Context, c *link.Conn) error {
	now, err := changes.Current(ctx, c)
	if err != nil {
		return err
	}
	if err := s.WaitApplied(ctx, now); err != nil {
		return fmt.Errorf("wait until the stream from %s is at %s: %w", s.from.Addr, now, err)
	}
	return nil
}
