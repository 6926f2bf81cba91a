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
	err     error         // set before failed is closed
}

// beginning determines where a stream may start.
type beginning struct {
	back bool // it is the reverse stream
	// begun means that the stream must have a recorded position, because rows depend on the changes that it has applied.
	// Starting at another position would skip changes.
	begun bool
	// fromEnd: earlier changes are not needed, so the stream starts at the end of the log if its server lacks the
	// recorded position.
	fromEnd bool
}

// openStream starts a stream at its recorded position, or at the end of the log. It also runs the function beside until the
// stream's context ends. beside may be nil.
func openStream(ctx context.Context, from link.Server, config applier.Config, start beginning, beside func(context.Context, *stream)) (*stream, error) {
	a, err := applier.Open(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("take over stream %s: %w", config.Job, err)
	}
	flavor, err := start.where(ctx, a, config, from)
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
			if lost, ok := errors.AsType[*changes.LostError](err); ok {
				err = &lostError{back: start.back, what: lost.Error()}
			}
			st.err = fmt.Errorf("stream %s: %w", config.Job, err)
			close(st.failed)
		}
	})
	return st, nil
}

// where lets a stream without a recorded position start at the end of the log.
func (b beginning) where(ctx context.Context, a *applier.Applier, config applier.Config, from link.Server) (link.Flavor, error) {
	c, err := link.Dial(ctx, from)
	if err != nil {
		return "", err
	}
	defer c.Close()
	flavor := c.Version().Flavor
	position, err := a.From()
	begun := !errors.Is(err, applier.ErrNotBegun)
	switch {
	case begun && err != nil:
		return "", err
	case !begun && b.begun && !b.fromEnd:
		return "", &lostError{back: b.back, what: fmt.Sprintf("%s lacks the position of stream %s, which was written to its shard before", config.Target.Addr, config.Job)}
	case begun && b.fromEnd:
		lost, err := changes.Lost(ctx, c, position)
		if err != nil || lost == "" {
			return flavor, err
		}
	case begun:
		return flavor, nil
	}
	now, err := changes.Current(ctx, c)
	if err != nil {
		return "", err
	}
	return flavor, a.Begin(ctx, now)
}

func (s *stream) stop() {
	s.cancel()
	s.running.Wait()
}

// ended returns the reason why the stream has ended by itself, or nil while it runs.
func (s *stream) ended() error {
	select {
	case <-s.failed:
		return s.err
	default:
		return nil
	}
}

// caughtUp waits until the stream has applied everything that its server has logged so far.
func (s *stream) caughtUp(ctx context.Context) error {
	c, err := link.Dial(ctx, s.from)
	if err != nil {
		return err
	}
	defer c.Close()
	return s.hasAllOf(ctx, c)
}

// hasAllOf is caughtUp over an existing connection to the source server.
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
