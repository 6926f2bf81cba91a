package applier

import (
	"context"

	"locus/migrate/changes"
)

// waiter waits until everything before a position is applied.
type waiter struct {
	position changes.Position
	done     chan error // capacity 1
}

// WaitApplied waits until everything before the position is committed at the target, or needs no applying.
func (a *Applier) WaitApplied(ctx context.Context, p changes.Position) error {
	w := &waiter{position: p, done: make(chan error, 1)}
	return a.ask(ctx, func() { a.waiters = append(a.waiters, w) }, w.done)
}

// answer serves the waiters whose position the stream has reached, together with the end of the log read with it. GTIDs
// alone omit changes that MySQL already shows.
func (a *Applier) answer(ctx context.Context, feed Feed, e changes.Event) error {
	if len(e.Changes) > 0 { // within a transaction
		return nil
	}
	a.mu.Lock()
	var reached []*waiter
	if len(a.waiters) > 0 {
		here := feed.Position()
		rest := a.waiters[:0]
		for _, w := range a.waiters {
			if here.Covers(w.position) && feed.Mark().Past(w.position.End()) {
				reached = append(reached, w)
			} else {
				rest = append(rest, w)
			}
		}
		a.waiters = rest
	}
	a.mu.Unlock()
	if len(reached) == 0 {
		return nil
	}
	return a.barrier(ctx, feed, func() {
		for _, w := range reached {
			w.done <- nil
		}
	})
}

// barrier calls then once every worker has written what it was given.
func (a *Applier) barrier(ctx context.Context, feed Feed, then func()) error {
	left := newCountdown(len(a.workers), then)
	for _, w := range a.workers {
		if len(w.pending.ops) > 0 {
			if err := w.flush(ctx, feed.Position()); err != nil {
				return err
			}
		}
		if err := w.send(ctx, item{passed: left}); err != nil {
			return err
		}
	}
	return nil
}
