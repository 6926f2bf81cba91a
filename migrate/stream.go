package migrate

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"locus/migrate/applier"
	"locus/migrate/changes"
	"locus/migrate/link"
	"locus/migrate/preflight"
	"locus/migrate/table"
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

// backJob is the name that the reverse stream's positions are kept by.
func backJob(id string) string { return id + "/back" }

// prepare finds the servers and the tables, once.
func (d *drive) prepare(ctx context.Context, s Snapshot) (err error) {
	if d.tables != nil {
		return nil
	}
	if d.source, err = d.Store.Shard(ctx, s.Job.From); err != nil {
		return err
	}
	if d.target, err = d.Store.Shard(ctx, s.Job.To); err != nil {
		return err
	}
	declared, err := d.Store.Tables(ctx)
	if err != nil {
		return err
	}
	_, announced := s.Map.MoveOf(d.id)
	d.looked = preflight.Config{
		Source: d.source, Target: d.target, Tables: declared, Width: s.Job.Width, Genes: s.Job.Genes, Resumed: announced,
	}
	report, err := preflight.Look(ctx, d.looked)
	if err != nil {
		return err
	}
	if len(report.Problems) > 0 && !announced {
		return &refusedError{report.Problems}
	}
	for _, p := range report.Problems { // a job that has begun goes on as well as it can
		d.Log.Warn("preflight", "job", d.id, "problem", p.String())
	}
	d.tables, d.parts = report.Tables, table.Split(s.Job.Genes, s.Job.Parts)
	return nil
}

// keepStreams has those streams run that the job's state wants, and no others. A
// stream that ends by itself ends the action.
func (d *drive) keepStreams(ctx context.Context, s Snapshot, cancel context.CancelCauseFunc) (err error) {
	forward, back := s.Job.State.Streams()
	if d.forward, err = d.kept(ctx, d.forward, forward, d.source, d.target, d.id, false); err != nil {
		return err
	}
	if d.back, err = d.kept(ctx, d.back, back, d.target, d.source, backJob(d.id), true); err != nil {
		return err
	}
	d.show()
	for _, st := range []*stream{d.forward, d.back} {
		if st != nil {
			d.watching.Go(func() {
				select {
				case <-st.failed:
					cancel(st.err)
				case <-ctx.Done(): // with the action at the latest
				}
			})
		}
	}
	return nil
}

func (d *drive) kept(ctx context.Context, st *stream, wanted bool, from, to link.Server, name string, fromTarget bool) (*stream, error) {
	switch {
	case !wanted && st != nil:
		st.stop()
		return nil, nil
	case !wanted || st != nil:
		return st, nil
	}
	return d.open(ctx, from, to, name, fromTarget)
}

// open begins a stream where it was, or now.
func (d *drive) open(ctx context.Context, from, to link.Server, name string, fromTarget bool) (*stream, error) {
	a, err := applier.Open(ctx, applier.Config{Job: name, Target: to, Tables: d.tables, Parts: d.parts, Judge: d.owned.judge(fromTarget)})
	if err != nil {
		return nil, fmt.Errorf("take over stream %s: %w", name, err)
	}
	flavor, err := beginWhere(ctx, a, from)
	if err != nil {
		return nil, err
	}
	position, err := a.From()
	if err != nil {
		return nil, err
	}
	feed, err := changes.Open(from, flavor, d.tables, position)
	if err != nil {
		return nil, fmt.Errorf("read the log of %s: %w", from.Addr, err)
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	st := &stream{Applier: a, feed: feed, from: from, cancel: cancel, failed: make(chan struct{})}
	st.running.Go(func() { st.measure(running) })
	st.running.Go(func() {
		defer feed.Close()
		err := a.Run(running, feed)
		if running.Err() == nil {
			st.err = fmt.Errorf("stream %s: %w", name, err)
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

func (d *drive) stopStreams() {
	for _, st := range []**stream{&d.forward, &d.back} {
		if *st != nil {
			d.touched.tooMany = true // what the next one will not know
			(*st).stop()
			*st = nil
		}
	}
	d.show()
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
