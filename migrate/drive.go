package migrate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"locus/migrate/job"
	"locus/migrate/link"
	"locus/migrate/phase"
	"locus/migrate/preflight"
	"locus/migrate/table"
)

// drive is one job that is being run, by one goroutine.
type drive struct {
	*Runner
	id string

	source, target link.Server
	tables         []*table.Table
	parts          table.Parts
	looked         preflight.Config // what was looked at before all

	forward, back *stream
	touched       touched
	watching      sync.WaitGroup // what ends the action under way
	owned         owned          // who owns what, for the streams

	compared map[string]int64 // rows by table, of the comparison under way or the last; replaced, never edited
	verified time.Time        // when the last verification passed; zero: not by this process
	stepped  time.Time        // when the last step was taken
	before   figures          // as the last step left them
	waiting  job.Tally        // at the source, when the job began to wait for a cut-over
	usual    job.Tally        // at the source, before the first step
	failing  time.Time        // since when actions fail; zero: they don't
	tries    int              // in vain, since then
	failed   phase.Action     // the last that did; a comparison between two tries of a step mends nothing

	mu     sync.Mutex // of what follows
	report job.Report
	shown  struct{ forward, back *stream }
}

func newDrive(r *Runner, id string) *drive {
	return &drive{Runner: r, id: id, report: job.Report{ID: id, Runner: r.Name}}
}

// errMoved: the job isn't any more what the action was begun for.
var errMoved = errors.New("the job has changed")

// run goes from action to action until the job is over or ctx ends.
func (d *drive) run(ctx context.Context) error {
	defer d.stopStreams()
	stopReports := d.reports(ctx)
	defer stopReports()
	if err := d.again(ctx, "release", d.releaseLeft); err != nil {
		return err
	}
	for {
		var s Snapshot
		if err := d.again(ctx, "read", func(ctx context.Context) (err error) { s, err = d.Store.Read(ctx, d.id); return err }); err != nil {
			return err
		}
		action, genes := s.Job.State.Next()
		if action == phase.Nothing {
			return nil
		}
		d.owned.set(s.Job, s.Map)
		event, err := d.act(ctx, s, action, genes)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if event, err = d.judge(ctx, s, action, event, err); err != nil {
			return err
		}
		if event == nil {
			continue
		}
		if err := d.tell(ctx, s, *event); err != nil {
			return err
		}
	}
}

// act does one action until it is done, fails, or the job changes.
func (d *drive) act(ctx context.Context, s Snapshot, action phase.Action, genes int) (*phase.Event, error) {
	d.say(func(r *job.Report) { r.Doing = string(action) })
	ctx, cancel := context.WithCancelCause(ctx)
	d.watching.Go(func() { d.watch(ctx, cancel, s.JobRevision) })
	defer d.watching.Wait()
	defer cancel(nil)
	if err := d.prepare(ctx, s); err != nil {
		return nil, err
	}
	if err := d.keepStreams(ctx, s, cancel); err != nil {
		return nil, err
	}
	event, err := d.perform(ctx, s, action, genes)
	// What a step wrote to undo itself changes the job too, and does not explain why
	// it failed.
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
		err = cause
	}
	return event, err
}

func (d *drive) perform(ctx context.Context, s Snapshot, action phase.Action, genes int) (*phase.Event, error) {
	switch action {
	case phase.Announce:
		return d.announce(ctx, s)
	case phase.Copy:
		return d.copy(ctx, s)
	case phase.CatchUp:
		return d.catchUp(ctx)
	case phase.Verify:
		return d.verify(ctx, s)
	case phase.Advance, phase.Retreat:
		return d.step(ctx, s, action, genes)
	case phase.Retire:
		return d.retire(ctx, s)
	case phase.Withdraw:
		return d.withdraw(ctx, s)
	case phase.Keep:
		return d.keepWatching(ctx, s)
	case phase.Wait, phase.Nothing:
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// watch ends an action whose job has changed.
func (d *drive) watch(ctx context.Context, cancel context.CancelCauseFunc, revision int64) {
	changes, deaf := d.listen(ctx)
	defer deaf()
	for {
		s, err := d.Store.Read(ctx, d.id)
		if errors.Is(err, ErrNoJob) || err == nil && s.JobRevision != revision {
			cancel(errMoved)
			return
		}
		if err == nil {
			d.owned.set(s.Job, s.Map)
		}
		select {
		case <-ctx.Done():
			return
		case <-changes:
		}
	}
}

// listen is told of whatever changes in the store, until deaf is called.
func (d *drive) listen(ctx context.Context) (changes <-chan struct{}, deaf func()) {
	ctx, end := context.WithCancel(ctx)
	changes = d.Store.Changes(ctx)
	return changes, func() {
		end()
		for range changes { // until the store is done with it
		}
	}
}

// judge says what an action's end means for the job: an event, or nothing, and it
// is begun again.
func (d *drive) judge(ctx context.Context, s Snapshot, action phase.Action, event *phase.Event, err error) (*phase.Event, error) {
	switch {
	case err == nil:
		again := event != nil && event.Kind == phase.Differs
		if between := action == phase.Verify && d.failed == phase.Advance; !between && !again {
			d.failing, d.tries, d.failed = time.Time{}, 0, ""
		}
		d.say(func(r *job.Report) { r.Trouble = "" })
		return event, nil
	case errors.Is(err, errMoved), errors.Is(err, ErrChanged):
		d.failing, d.tries, d.failed = time.Time{}, 0, "" // somebody did something about it
		return nil, nil
	case errors.Is(err, ErrNoJob):
		return nil, err
	}
	d.stopStreams()
	if why, remedy, final := hopeless(err); final && s.Job.State.Phase != phase.Failed {
		return &phase.Event{Kind: phase.FailedWith, Why: why, Remedy: remedy}, nil
	}
	if d.failing.IsZero() {
		d.failing = time.Now()
	}
	d.failed = action
	d.Log.Warn("job action", "job", d.id, "action", action, "error", err)
	d.say(func(r *job.Report) { r.Trouble = fmt.Sprintf("%s: %v", action, err) })
	if time.Since(d.failing) > d.Times.Patience && s.Job.State.Phase != phase.Failed {
		why := fmt.Sprintf("%s: %v; it was tried again for %v", action, err, d.Times.Patience)
		return &phase.Event{Kind: phase.FailedWith, Why: why, Remedy: remedy(err, d.id)}, nil
	}
	d.tries++
	return nil, d.rest(ctx, pauseAfter(d.tries))
}

// rest pauses, for as long as nobody changes the job.
func (d *drive) rest(ctx context.Context, t time.Duration) error {
	s, err := d.Store.Read(ctx, d.id)
	if err != nil {
		return pause(ctx, min(t, quickPause))
	}
	resting, end := context.WithTimeout(ctx, t)
	defer end()
	d.watch(resting, func(error) {
		d.failing, d.tries, d.failed = time.Time{}, 0, "" // somebody did something about it
		end()
	}, s.JobRevision)
	return ctx.Err()
}

// Pauses between tries of what fails. A step that fails has held statements, so
// they grow: what passes by itself mostly passes at once.
const (
	quickTries   = 5
	quickPause   = time.Second
	longestPause = 30 * time.Second
)

func pauseAfter(tries int) time.Duration {
	if tries <= quickTries {
		return quickPause
	}
	return min(quickPause<<min(tries-quickTries, 10), longestPause)
}

// tell writes an event down. If the job has changed meanwhile, the action is begun
// again instead; a record in which only the journal is longer, as a step that undid
// itself leaves it, has not changed.
func (d *drive) tell(ctx context.Context, s Snapshot, e phase.Event) error {
	if e.Kind == phase.StepTaken { // written with the map
		return nil
	}
	was := s.Job.State
	return d.again(ctx, "write", func(ctx context.Context) error {
		next, err := s.Job.On(e, d.Name, "", time.Now())
		if err != nil {
			return fmt.Errorf("%w: %w", errDefect, err)
		}
		_, err = d.Store.Write(ctx, s, next, nil, "")
		if errors.Is(err, ErrUnknown) {
			return nil // what is there is read next
		}
		if !errors.Is(err, ErrChanged) {
			return err
		}
		fresh, err := d.Store.Read(ctx, d.id)
		if err != nil || fresh.Job.State != was {
			return err
		}
		s = fresh
		return errAgain
	})
}

// errDefect is an event that can't be.
var errDefect = errors.New("a defect of locus")

// errAgain asks for another try at once.
var errAgain = errors.New("again")

// again repeats what only needs the store, until it can be done.
func (d *drive) again(ctx context.Context, what string, do func(context.Context) error) error {
	for {
		err := do(ctx)
		if err == nil || errors.Is(err, ErrNoJob) || errors.Is(err, errDefect) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, errAgain) {
			continue
		}
		d.Log.Warn("job record", "job", d.id, "what", what, "error", err)
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context, t time.Duration) error {
	timer := time.NewTimer(t)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// releaseLeft takes away a fence that a process left which ran the job before.
func (d *drive) releaseLeft(ctx context.Context) error {
	s, err := d.Store.Read(ctx, d.id)
	if err != nil {
		return err
	}
	return d.release(ctx, s)
}

// release takes the job's fence away, if there is one.
func (d *drive) release(ctx context.Context, s Snapshot) error {
	move, there := s.Map.MoveOf(d.id)
	if !there || move.Held.Empty() {
		return nil
	}
	next, err := s.Map.Step(withMove(s.Map, s.Job.Move()))
	if err != nil {
		return err
	}
	_, err = d.Store.Write(ctx, s, s.Job.Noted(d.Name, "fence taken away", time.Now()), next, "job "+d.id+": fence taken away")
	return err
}
