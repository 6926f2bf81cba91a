// Package together combines calls that arrive during a request into one next request.
//
// It owns the choice of the caller that leads the next request, and the distribution of its numbers. It never makes a
// request while nobody waits, and starts no goroutine: callers lead in turn.
package together

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"locus/idgen"
)

// Numbers hands out numbers of runs that callers take together. It is safe for concurrent use.
type Numbers struct {
	take  Take
	most  int
	turn  atomic.Uint32
	lanes []lane
}

// Take returns the first of n consecutive numbers.
type Take func(ctx context.Context, n int) (first uint64, err error)

var _ idgen.Numbers = (*Numbers)(nil)

// New returns a Numbers with the given number of concurrent requests, at least 1, of at most most numbers each (4,096
// if 0).
func New(lanes, most int, take Take) *Numbers {
	return &Numbers{take: take, most: cmp.Or(most, 4096), lanes: make([]lane, max(1, lanes))}
}

// Fill implements idgen.Numbers. The numbers of a call are consecutive.
func (g *Numbers) Fill(ctx context.Context, into []uint64) error {
	if len(into) == 0 {
		return nil
	}
	return g.lanes[g.turn.Add(1)%uint32(len(g.lanes))].fill(ctx, g, into)
}

// lane is one request in progress and the callers that wait for the next one.
type lane struct {
	mu      sync.Mutex // guards the fields below; never held across a wait
	busy    bool
	waiting []*waiter

	_ [64]byte // different callers lock neighbouring lanes
}

// waiter is a waiting caller. It gets one message: to lead the next request, or that its numbers are there.
type waiter struct {
	into []uint64
	told chan told
}

type told struct {
	lead bool
	err  error
}

// fill takes numbers, alone or together with others.
func (l *lane) fill(ctx context.Context, g *Numbers, into []uint64) error {
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

// giveUp leaves the lane. A caller that got its message meanwhile passes the lead on.
func (l *lane) giveUp(ctx context.Context, w *waiter) error {
	l.mu.Lock()
	for i, other := range l.waiting {
		if other == w {
			l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
			l.mu.Unlock()
			return fmt.Errorf("wait for those before: %w", context.Cause(ctx))
		}
	}
	l.mu.Unlock()
	if t := <-w.told; !t.lead { // its request is in progress, and into must not be abandoned while it is written
		return t.err
	}
	l.passOn()
	return fmt.Errorf("wait for those before: %w", context.Cause(ctx))
}

// lead runs a request for this caller and those that wait, and then makes the next one lead. It yields before it
// collects the waiting callers. If a request is shorter than the time in which callers come back, half of them would
// miss each request otherwise.
func (l *lane) lead(ctx context.Context, g *Numbers, w *waiter) error {
	runtime.Gosched() // callers that were just answered, and come back at once, can join
	l.mu.Lock()
	n, taken := len(w.into), 0
	for taken < len(l.waiting) && n+len(l.waiting[taken].into) <= g.most {
		n += len(l.waiting[taken].into)
		taken++
	}
	together := append([]*waiter(nil), l.waiting[:taken]...)
	l.waiting = append(l.waiting[:0], l.waiting[taken:]...)
	l.mu.Unlock()

	// Others wait for this request too, so the end of the leader's context doesn't end it.
	next, err := g.take(context.WithoutCancel(ctx), n)
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
