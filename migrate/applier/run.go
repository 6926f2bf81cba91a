package applier

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/migrate/changes"
	"locus/migrate/table"
)

// Feed is the stream of changes. It belongs to Run while that runs. Wake is safe for concurrent use.
type Feed interface {
	Next(ctx context.Context) (changes.Event, error)
	// Position and Mark are those after the last event of Next.
	Position() changes.Position
	Mark() changes.Mark
	// Idle reports whether Next may have to wait.
	Idle() bool
	// Wake makes a waiting Next return an empty event.
	Wake()
}

// stampEvery is how often workers without rows record the stream's position. A restart reads from the position of the
// least advanced worker.
const stampEvery = 5 * time.Second

// Run applies the feed's changes, starting at the position of From, until ctx ends or a change can't be applied. It is
// called once.
func (a *Applier) Run(ctx context.Context, feed Feed) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var working sync.WaitGroup
	for _, w := range a.workers {
		working.Go(func() {
			if err := w.run(ctx, feed.Wake); err != nil {
				cancel(fmt.Errorf("job %s, worker %d: %w", a.config.Job, w.number, err))
				feed.Wake()
			}
		})
	}
	a.mu.Lock()
	a.wake = feed.Wake
	a.mu.Unlock()
	err := a.dispatch(ctx, feed)
	cancel(err)
	working.Wait()
	err = context.Cause(ctx)
	a.release(err)
	return err
}

// release ends requests that wait for a Run that has ended.
func (a *Applier) release(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wake = nil
	a.err = err
	close(a.ended)
}

// dispatch passes the feed's changes to the workers. Only it sees their order.
func (a *Applier) dispatch(ctx context.Context, feed Feed) error {
	stamped := time.Now()
	for {
		e, err := feed.Next(ctx)
		if err != nil {
			return err
		}
		if err := a.take(ctx, e, feed); err != nil {
			return err
		}
		stamp := time.Since(stamped) > stampEvery
		if stamp {
			stamped = time.Now()
		}
		if err := a.flushReady(ctx, feed, stamp); err != nil {
			return err
		}
		a.begin(feed)
		if err := a.land(ctx, feed); err != nil {
			return err
		}
		if err := a.answer(ctx, feed, e); err != nil {
			return err
		}
	}
}

// take distributes the changes of one event to the workers.
func (a *Applier) take(ctx context.Context, e changes.Event, feed Feed) error {
	verdict, err := a.judge(e, feed)
	if err != nil {
		return err
	}
	for _, c := range e.Changes {
		for _, o := range ops(c) {
			if err := a.place(ctx, o, verdict, feed); err != nil {
				return err
			}
		}
	}
	for _, w := range a.workers {
		if w.pending.bytes >= a.config.BatchBytes || len(w.pending.ops) >= a.config.BatchRows {
			if err := w.flush(ctx, feed.Position()); err != nil {
				return err
			}
		}
	}
	return nil
}

// judged holds the verdicts on the stream's current transaction.
type judged struct {
	verdicts Verdicts
	begun    bool // a change of it was taken
	split    bool // a worker was sent some changes, perhaps of this transaction, since it began
}

func (a *Applier) judge(e changes.Event, feed Feed) (v Verdicts, err error) {
	if e.Committed {
		a.judged = judged{}
	}
	if len(e.Changes) > 0 && !a.judged.begun {
		a.judged.begun, a.judged.split = true, false
	}
	if a.config.Judge == nil || len(e.Changes) == 0 {
		return applyAll, nil
	}
	if a.judged.verdicts == nil {
		a.judged.verdicts, err = a.config.Judge(feed.Position())
	}
	return a.judged.verdicts, err
}

func applyAll(context.Context, gene.Gene, orderid.Residue) (Verdict, error) { return Apply, nil }

// place passes an op to its worker, unless its genes don't move or the worker has it already.
func (a *Applier) place(ctx context.Context, o op, verdict Verdicts, feed Feed) error {
	if a.config.Saw != nil && o.after != nil {
		a.config.Saw(o.table, o.after)
	}
	g, err := o.table.GeneOf(o.row())
	switch {
	case err != nil && a.config.Saw != nil:
		return nil
	case err != nil:
		return err
	case !a.genes.Contains(g):
		return nil
	}
	part := o.table.PartOf(g, a.config.Parts)
	if o.effect != nil {
		a.sawCascade(o.table, part, g)
	}
	if o.after == nil {
		a.sawDelete(o, part)
	} else if err := o.table.CheckGene(o.after, g); err != nil && a.config.Saw == nil {
		return err
	}
	w := a.workers[part]
	if w.resuming {
		if w.start.Covers(feed.Position()) {
			return nil
		}
		w.resuming = false
	}
	var residue orderid.Residue
	if a.config.BySequence {
		if residue, err = o.table.ResidueOf(o.row()); err != nil {
			return err
		}
	}
	if o.verdict, err = verdict(ctx, g, residue); err != nil || o.verdict == Drop {
		return err
	}
	o.copied, o.resumed = a.config.Copied != nil && a.config.Copied(), a.judged.split
	w.pending.add(o)
	a.mu.Lock()
	a.touched.add(o, g, residue)
	a.mu.Unlock()
	return nil
}

func (a *Applier) sawDelete(o op, part int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for opening := range a.openings {
		opening.sawDelete(o.table, part, o.id)
	}
}

func (a *Applier) sawCascade(t *table.Table, part int, g gene.Gene) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for opening := range a.openings {
		opening.sawCascade(t, part, g)
	}
}

// flushReady sends pending changes to idle workers, if no more changes are waiting.
func (a *Applier) flushReady(ctx context.Context, feed Feed, stamp bool) error {
	if !feed.Idle() && !stamp {
		return nil
	}
	for _, w := range a.workers {
		if w.inFlight.Load() > 0 || len(w.pending.ops) == 0 && !stamp {
			continue
		}
		if err := w.flush(ctx, feed.Position()); err != nil {
			return err
		}
	}
	return nil
}

// errNotRunning is returned for requests to an applier that doesn't run.
var errNotRunning = errors.New("the applier does not run")

// ask makes a request to Run and waits for the answer. If Run has not begun, it waits for that too.
func (a *Applier) ask(ctx context.Context, post func(), done <-chan error) error {
	a.mu.Lock()
	post()
	if a.wake != nil {
		a.wake()
	}
	a.mu.Unlock()
	select {
	case err := <-done:
		return err
	case <-a.ended:
		return fmt.Errorf("%w any more: %w", errNotRunning, a.err)
	case <-ctx.Done():
		return ctx.Err()
	}
}
