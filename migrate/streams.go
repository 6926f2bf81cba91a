package migrate

import (
	"context"
	"sync"

	"locus/migrate/applier"
	"locus/migrate/changes"
	"locus/migrate/link"
	"locus/migrate/owned"
	"locus/migrate/phase"
)

// streams are the two streams of a leg: forward carries the source's changes to the target, back carries the
// target's changes to the source. Each is nil while it does not run. One goroutine uses them.
type streams struct {
	job       string
	shards    *shards
	ownership *ownership
	owners    *owners      // for an import; otherwise nil
	space     int          // for each stream; see [applier.Config]
	sweeper   *sweeper     // for a job by sequence; otherwise nil
	changed   *changedRows // becomes incomplete when a stream stops

	state         phase.State // the job's state at the last call of keep
	forward, back *stream
}

// backJob returns the name under which the reverse stream's positions are stored.
func backJob(id string) string { return id + "/back" }

// keep starts the streams that the job's state requires, and stops the others.
func (s *streams) keep(ctx context.Context, of Snapshot) (err error) {
	s.state = of.Job.State
	forward, back := of.Job.Streams()
	if s.forward, err = kept(s.forward, forward, func() (*stream, error) { return s.openForward(ctx) }); err != nil {
		return err
	}
	if s.back, err = kept(s.back, back, func() (*stream, error) { return s.openReverse(ctx) }); err != nil {
		return err
	}
	return nil
}

func kept(st *stream, wanted bool, open func() (*stream, error)) (*stream, error) {
	switch {
	case !wanted && st != nil:
		st.stop()
		return nil, nil
	case !wanted || st != nil:
		return st, nil
	}
	return open()
}

func (s *streams) openForward(ctx context.Context) (*stream, error) {
	if s.state.Copied {
		if err := s.copied(ctx); err != nil {
			return nil, err
		}
	}
	return s.open(ctx, s.shards.source, s.shards.target, s.job, owned.Source)
}

func (s *streams) openReverse(ctx context.Context) (*stream, error) {
	return s.open(ctx, s.shards.target, s.shards.source, backJob(s.job), owned.Target)
}

func (s *streams) config(to link.Server, name string, by owned.Side) applier.Config {
	config := applier.Config{
		Job: name, Target: to, Tables: s.shards.tables, Parts: s.shards.parts, Judge: s.ownership.judge(s.job, by), Copied: s.ownership.copied(by),
		Space: s.space, BySequence: s.sweeper != nil,
	}
	if s.owners != nil && by == owned.Source {
		config.Saw = s.owners.saw
	}
	return config
}

func (s *streams) open(ctx context.Context, from, to link.Server, name string, by owned.Side) (*stream, error) {
	config := s.config(to, name, by)
	var beside func(context.Context, *stream)
	if s.sweeper != nil {
		beside = func(ctx context.Context, st *stream) { s.sweeper.run(ctx, st, to) }
	}
	start := beginning{begun: s.state.Copied}
	if by == owned.Target {
		start = beginning{back: true, begun: s.state.Reversible, fromEnd: !s.state.Reversible || s.state.Phase == phase.Failed}
	}
	return openStream(ctx, from, config, start, beside)
}

// restart makes the forward stream start at the end of the source's log when it is opened next. The caller must
// have blocked writers on both servers.
func (s *streams) restart(ctx context.Context, source *link.Conn) error {
	now, err := changes.Current(ctx, source)
	if err != nil {
		return err
	}
	a, err := applier.Open(ctx, s.config(s.shards.target, s.job, owned.Source))
	if err != nil {
		return err
	}
	return a.Begin(ctx, now)
}

// ensureForward opens the forward stream if it is not open.
func (s *streams) ensureForward(ctx context.Context) (err error) {
	if s.forward == nil {
		s.forward, err = s.openForward(ctx)
	}
	return err
}

// ensureBack opens the reverse stream if it is not open.
func (s *streams) ensureBack(ctx context.Context) (err error) {
	if s.back == nil {
		s.back, err = s.openReverse(ctx)
	}
	return err
}

// running returns the open streams.
func (s *streams) running() []*stream {
	var some []*stream
	for _, st := range []*stream{s.forward, s.back} {
		if st != nil {
			some = append(some, st)
		}
	}
	return some
}

// conflicts returns the number of rows that the streams have refused.
func (s *streams) conflicts() (n int64) {
	for _, st := range s.running() {
		n += st.Progress().Conflicts
	}
	return n
}

// cancelOnFailure cancels an action when a stream ends by itself. Its goroutines end with ctx at the latest.
func (s *streams) cancelOnFailure(ctx context.Context, waiting *sync.WaitGroup, cancel context.CancelCauseFunc) {
	for _, st := range s.running() {
		waiting.Go(func() {
			select {
			case <-st.failed:
				cancel(st.err)
			case <-ctx.Done():
			}
		})
	}
}

// stop stops both streams. Changes until their next start are not recorded in changed.
func (s *streams) stop() {
	for _, st := range s.running() {
		s.changed.tooMany = true
		st.stop()
	}
	s.forward, s.back = nil, nil
}
