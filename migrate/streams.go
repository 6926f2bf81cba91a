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

// streams are those between the two servers of a leg: forward brings the source's changes to the target, back the other way
// round. Each is nil while it doesn't run. One goroutine uses them.
type streams struct {
	job       string
	shards    *shards
	ownership *ownership
	owners    *owners      // of an import; else nil
	space     int          // of each; see [applier.Config]
	sweeper   *sweeper     // of a job by sequence; else nil
	changed   *changedRows // forgets what it knows when a stream stops

	state         phase.State // of the job, as it was when they were last kept
	forward, back *stream
}

// backJob is the name that the reverse stream's positions are kept by.
func backJob(id string) string { return id + "/back" }

// keep has those streams run that the job's state wants, and no others.
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
		start = beginning{back: true, begun: s.state.Reversible, anew: !s.state.Reversible || s.state.Phase == phase.Failed}
	}
	return openStream(ctx, from, config, start, beside)
}

// restart makes the stream forward begin at the end of the source's log when it is opened next. The caller keeps writers off both servers.
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

// ensureForward begins the stream forward, once.
func (s *streams) ensureForward(ctx context.Context) (err error) {
	if s.forward == nil {
		s.forward, err = s.openForward(ctx)
	}
	return err
}

// ensureBack begins the stream back, once.
func (s *streams) ensureBack(ctx context.Context) (err error) {
	if s.back == nil {
		s.back, err = s.openReverse(ctx)
	}
	return err
}

// running are the streams that run.
func (s *streams) running() []*stream {
	var some []*stream
	for _, st := range []*stream{s.forward, s.back} {
		if st != nil {
			some = append(some, st)
		}
	}
	return some
}

// conflicts is how many rows the streams have refused.
func (s *streams) conflicts() (n int64) {
	for _, st := range s.running() {
		n += st.Progress().Conflicts
	}
	return n
}

// cancelOnFailure ends an action when a stream ends by itself. What waits for that ends with ctx at the latest.
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

// stop ends both. What changes until the next ones begin is not known to them.
func (s *streams) stop() {
	for _, st := range s.running() {
		s.changed.tooMany = true
		st.stop()
	}
	s.forward, s.back = nil, nil
}
