package buckets

import (
	"context"
	"fmt"
	"sync"
)

// lane is one script under way and the callers that wait for the next one.
type lane struct {
	mu      sync.Mutex // guards what follows; never held across a wait
	busy    bool
	waiting []*waiter

	_ [64]byte // lanes are locked by different callers
}

// waiter is a caller. Its owner of turn is told once: to lead the next script,
// or that its numbers are there.
type waiter struct {
	into []uint64
	told chan told
}

type told struct {
	lead bool
	err  error
}

// most is how many numbers one script takes.
const most = 1 << 12

// fill takes numbers, alone or together with others.
func (l *lane) fill(ctx context.Context, g *Generator, into []uint64) error {
	w := &waiter{into: into, told: make(chan told, 1)}
	l.mu.Lock()
	if l.busy {
		l.waiting = append(l.waiting, w)
		l.mu.Unlock()
		select {
		case t := <-w.told:
			if !t.lead {
				return t.err
			}
		case <-ctx.Done():
			return l.giveUp(ctx, w)
		}
	} else {
		l.busy = true
		l.mu.Unlock()
	}
	return l.lead(ctx, g, w)
}

// giveUp leaves the lane; who was told meanwhile passes on what that was.
func (l *lane) giveUp(ctx context.Context, w *waiter) error {
	l.mu.Lock()
	for i, other := range l.waiting {
		if other == w {
			l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
			l.mu.Unlock()
			return fmt.Errorf("buckets: wait for a script: %w", context.Cause(ctx))
		}
	}
	l.mu.Unlock()
	if t := <-w.told; !t.lead { // its script is under way; into must not be left while it is written
		return t.err
	}
	l.passOn()
	return fmt.Errorf("buckets: wait for a script: %w", context.Cause(ctx))
}

// lead runs a script for this caller and those that wait, and then has the next
// one lead.
func (l *lane) lead(ctx context.Context, g *Generator, w *waiter) error {
	l.mu.Lock()
	n, taken := len(w.into), 0
	for taken < len(l.waiting) && n+len(l.waiting[taken].into) <= most {
		n += len(l.waiting[taken].into)
		taken++
	}
	together := append([]*waiter(nil), l.waiting[:taken]...)
	l.waiting = append(l.waiting[:0], l.waiting[taken:]...)
	l.mu.Unlock()

	// Others wait for this script too: the leader's own end does not end it.
	next, err := g.count(context.WithoutCancel(ctx), n)
	give(w.into, &next, err)
	for _, other := range together {
		give(other.into, &next, err)
		other.told <- told{err: err}
	}
	l.passOn()
	return err
}

func give(into []uint64, next *uint64, err error) {
	if err != nil {
		return
	}
	for i := range into {
		into[i] = *next
		*next++
	}
}

func (l *lane) passOn() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 {
		l.busy = false
		return
	}
	next := l.waiting[0]
	l.waiting = append(l.waiting[:0], l.waiting[1:]...)
	next.told <- told{lead: true}
}
