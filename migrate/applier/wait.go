package applier

import (
	"context"

	"locus/migrate/changes"
)

// waiter waits until everything before a position is applied.
type waiter struct {
	position changes.Position
	done     chan error // capacity 1
	// passing is called between two transactions of the stream, before any change of the second one is judged. nil is not
	// called, and the stream may be within a transaction.
	passing func(changes.Position) error
	// stamp makes every worker record the stream's position.
	stamp bool
}

// WaitApplied waits until everything before the position is committed at the target, or needs no applying.
func (a *Applier) WaitApplied(ctx context.Context, p changes.Position) error {
	return a.wait(ctx, &waiter{position: p})
}

// Bound calls passing with the stream's position between two transactions, before the later one is judged. It returns
// once everything before that position is committed at the target.
func (a *Applier) Bound(ctx context.Context, passing func(changes.Position) error) error {
	return a.wait(ctx, &waiter{passing: passing})
}

// Stamp records the stream's position of now, so that a restart continues there.
func (a *Applier) Stamp(ctx context.Context) error { return a.wait(ctx, &waiter{stamp: true}) }

func (a *Applier) wait(ctx context.Context, w *waiter) error {
	w.done = make(chan error, 1)
	return a.ask(ctx, func() { a.waiters = append(a.waiters, w) }, w.done)
}

// reached reports whether a waiter can be answered at a position of the stream.
func (w *waiter) reached(here changes.Position, mark changes.Mark) bool {
	if w.passing != nil && !here.Between() {
		return false
	}
	return here.Covers(w.position) && mark.Past(w.position.End())
}

// answer serves the waiters whose position the stream has reached, together with the end of the log read with it. GTIDs
// alone omit changes that MySQL already shows.
func (a *Applier) answer(ctx context.Context, feed Feed, e changes.Event) error {
	if len(e.Changes) > 0 { // within a transaction
		return nil
	}
	reached := a.takeReached(feed)
	if len(reached) == 0 {
		return nil
	}
	stamp := false
	for _, w := range reached {
		stamp = stamp || w.stamp
		if w.passing == nil {
			continue
		}
		if err := w.passing(feed.Position()); err != nil {
			return err
		}
	}
	if stamp {
		for _, w := range a.workers {
			if err := w.flush(ctx, feed.Position()); err != nil {
				return err
			}
		}
	}
	return a.barrier(ctx, feed, func() {
		for _, w := range reached {
			w.done <- nil
		}
	})
}

// takeReached removes the waiters that can be answered.
func (a *Applier) takeReached(feed Feed) []*waiter {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.waiters) == 0 {
		return nil
	}
	var reached []*waiter
	here, mark := feed.Position(), feed.Mark()
	rest := a.waiters[:0]
	for _, w := range a.waiters {
		if w.reached(here, mark) {
			reached = append(reached, w)
		} else {
			rest = append(rest, w)
		}
	}
	clear(a.waiters[len(rest):])
	a.waiters = rest
	return reached
}

// barrier calls then after every worker has written the items that it got before.
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
