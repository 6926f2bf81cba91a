package migrate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"locus/migrate/job"
	"locus/migrate/phase"
)

// worker runs one job: it executes the actions that the record's state requires, one after the other. One
// goroutine uses it.
type worker struct {
	runner *Runner
	id     string
	log    *slog.Logger

	report    *reporter
	ownership *ownership
	attempts  attempts
	move      *move    // nil until the shards have been inspected
	looked    Snapshot // the snapshot for which they were inspected
}

func newWorker(r *Runner, id string) *worker {
	return &worker{
		runner: r, id: id, log: r.Log.With("job", id), report: newReporter(r.Store, r.Name, id), ownership: new(ownership),
	}
}

// errMoved reports that the job has changed since the action began.
var errMoved = errors.New("the job has changed")

// run executes actions until the job is over or ctx ends.
func (w *worker) run(ctx context.Context) error {
	defer w.stopStreams()
	stopReports := w.report.run(ctx, w.log)
	defer stopReports()
	if err := w.again(ctx, "release", w.releaseLeft); err != nil {
		return err
	}
	for {
		var s Snapshot
		if err := w.again(ctx, "read", func(ctx context.Context) (err error) { s, err = w.runner.Store.Read(ctx, w.id); return err }); err != nil {
			return err
		}
		next, genes := s.Job.State.Next()
		if next == phase.Nothing {
			w.unlist(ctx)
			return nil
		}
		if err := w.ownership.settle(s.Job, s.Map); err != nil {
			return err
		}
		event, err := w.act(ctx, s, next, genes)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if event, err = w.judge(ctx, s, next, event, err); err != nil {
			return err
		}
		if event == nil {
			continue
		}
		if err := w.record(ctx, s, *event); err != nil {
			return err
		}
	}
}

// act executes one action until it is done, fails, or the job changes.
func (w *worker) act(ctx context.Context, s Snapshot, next phase.Action, genes int) (*phase.Event, error) {
	w.report.update(func(r *job.Report) { r.Doing = string(next) })
	ctx, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { w.watch(ctx, cancel, s) })
	defer watching.Wait()
	defer cancel(nil)
	if w.move != nil && !s.sameServers(w.looked) { // a primary has changed, so everything starts again from the new server's state
		w.stopStreams()
		w.move = nil
	}
	if shard := s.changing(); shard != "" {
		w.report.trouble(fmt.Sprintf("waiting: another server of shard %s becomes the primary", shard))
		defer w.report.trouble("")
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	if next == phase.Copy {
		if err := w.makeTables(ctx, s); err != nil {
			return nil, err
		}
	}
	if err := w.prepare(ctx, s); err != nil {
		return nil, err
	}
	err := w.move.keep(ctx, s)
	w.report.measure(w.move.legs)
	if err != nil {
		return nil, err
	}
	w.move.legs.cancelOnFailure(ctx, &watching, cancel)
	event, err := w.action(next, genes).do(ctx, s)
	// A step that undoes itself changes the job as well. That change does not explain why the step failed.
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
		err = cause
	}
	return event, err
}

// prepare finds the servers and the tables, once.
func (w *worker) prepare(ctx context.Context, s Snapshot) error {
	if w.move != nil {
		return nil
	}
	var all []*shards
	for _, l := range s.Job.Legs() {
		one, err := lookAt(ctx, w.runner.Store, w.log, s, l)
		if err != nil {
			return err
		}
		all = append(all, one)
	}
	homes, err := homesOf(ctx, w.runner.Store, s.Job)
	if err != nil {
		return err
	}
	w.move, w.looked = newMove(w, s.Job, all, homes), s
	return nil
}

func (w *worker) stopStreams() {
	if w.move != nil {
		w.move.stop()
		w.report.measure(nil)
	}
}

// watch cancels an action when its job or one of its primaries has changed.
func (w *worker) watch(ctx context.Context, cancel context.CancelCauseFunc, of Snapshot) {
	changes, stop := listen(ctx, w.runner.Store.Changes)
	defer stop()
	for {
		s, err := w.runner.Store.Read(ctx, w.id)
		if errors.Is(err, ErrNoJob) || err == nil && (s.JobRevision != of.JobRevision || !s.sameServers(of)) {
			cancel(errMoved)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-changes:
		}
	}
}

// judge converts the result of an action to an event for the job's record. It returns nil if the action must be repeated.
func (w *worker) judge(ctx context.Context, s Snapshot, did phase.Action, event *phase.Event, err error) (*phase.Event, error) {
	if different, ok := errors.AsType[*differencesError](err); ok {
		event, err = w.list(ctx, different)
	}
	switch {
	case err == nil:
		w.attempts.succeeded(did, event)
		if event != nil && event.Kind == phase.Verified {
			w.unlist(ctx)
		}
		w.report.trouble("")
		return event, nil
	case errors.Is(err, errMoved), errors.Is(err, ErrChanged):
		w.attempts.reset() // an operator or another process changed the job
		return nil, nil
	case errors.Is(err, ErrNoJob):
		return nil, err
	}
	w.stopStreams()
	failed := s.Job.State.Phase == phase.Failed
	if why, remedy, final := hopeless(err); final && !failed {
		return &phase.Event{Kind: phase.FailedWith, Why: why, Remedy: remedy}, nil
	}
	since := w.attempts.failedAt(did, time.Now())
	w.log.Warn("job action", "action", did, "error", err)
	w.report.trouble(fmt.Sprintf("%s: %v", did, err))
	if patience := w.runner.Times.Patience; since > patience && !failed {
		why := fmt.Sprintf("%s: %v; it was tried again for %v", did, err, patience)
		return &phase.Event{Kind: phase.FailedWith, Why: why, Remedy: remedy(err, w.id)}, nil
	}
	return nil, w.rest(ctx, w.attempts.pause())
}

// rest pauses for a time, or until the job changes.
func (w *worker) rest(ctx context.Context, t time.Duration) error {
	s, err := w.runner.Store.Read(ctx, w.id)
	if err != nil {
		return pause(ctx, min(t, quickPause))
	}
	resting, end := context.WithTimeout(ctx, t)
	defer end()
	w.watch(resting, func(error) {
		w.attempts.reset() // an operator or another process changed the job
		end()
	}, s)
	return ctx.Err()
}

// record writes an event into the record. If the job has changed meanwhile, the action starts again instead. A
// record of which only the journal has grown counts as unchanged: a step that undid itself leaves it so.
func (w *worker) record(ctx context.Context, s Snapshot, e phase.Event) error {
	if e.Kind == phase.StepTaken { // already written together with the map
		return nil
	}
	was := s.Job.State
	return w.again(ctx, "write", func(ctx context.Context) error {
		next, err := s.Job.On(e, w.runner.Name, "", time.Now())
		if err != nil {
			return fmt.Errorf("%w: %w", errDefect, err)
		}
		_, err = w.runner.Store.Write(ctx, s, next, nil, "")
		if errors.Is(err, ErrUnknown) {
			return nil // the next action reads the changed record
		}
		if !errors.Is(err, ErrChanged) {
			return err
		}
		fresh, err := w.runner.Store.Read(ctx, w.id)
		if err != nil || fresh.Job.State != was {
			return err
		}
		s = fresh
		return errAgain
	})
}

// errDefect reports an event that the state machine does not allow: a bug.
var errDefect = errors.New("a defect of locus")

// errAgain requests an immediate retry.
var errAgain = errors.New("again")

// again repeats an operation that needs only the store, until it succeeds.
func (w *worker) again(ctx context.Context, what string, do func(context.Context) error) error {
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
		w.log.Warn("job record", "what", what, "error", err)
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
	}
}

// releaseLeft removes a fence that an earlier process of the job has left behind.
func (w *worker) releaseLeft(ctx context.Context) error {
	s, err := w.runner.Store.Read(ctx, w.id)
	if err != nil {
		return err
	}
	return release(ctx, w.runner.Store, s, w.runner.Name)
}

// release removes the job's fence, if there is one.
func release(ctx context.Context, store Store, s Snapshot, by string) error {
	if !holds(s) {
		return nil
	}
	next, err := s.Map.Step(withMoves(s.Map, s.Job, s.Job.Moves()))
	if err != nil {
		return err
	}
	_, err = store.Write(ctx, s, s.Job.Noted(by, "fence removed", time.Now()), next, "job "+s.Job.ID+": fence removed")
	return err
}

// holds reports whether the route map contains a fence of the job.
func holds(s Snapshot) bool {
	return slices.ContainsFunc(s.Job.Legs(), func(l job.Leg) bool {
		move, _ := s.Map.MoveOf(l.ID)
		return move.Holds()
	})
}

// listen returns a channel that signals changes in the store, until stop is called.
func listen(ctx context.Context, what func(context.Context) <-chan struct{}) (changes <-chan struct{}, stop func()) {
	ctx, end := context.WithCancel(ctx)
	changes = what(ctx)
	return changes, func() {
		end()
		for range changes { // drain the channel until the store closes it
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
