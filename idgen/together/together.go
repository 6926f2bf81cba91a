// Package together combines calls that arrive during a request into one next request.
//
// It owns the choice of the caller that leads the next request, and the distribution of its numbers. It never makes a
// request while nobody waits, and starts no goroutine: callers lead in turn. A caller never waits longer than its
// context, regardless of the leader, provided that a request ends with its context.
package together

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
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

// First returns the first of n consecutive numbers.
func (g *Numbers) First(ctx context.Context, n int) (uint64, error) {
	into := make([]uint64, n)
	err := g.Fill(ctx, into)
	return into[0], err
}

// lane is one request in progress and the callers that wait for the next one.
type lane struct {
	mu      sync.Mutex // guards the fields below; never held across a wait
	busy    bool
	waiting []*waiter

	_ [64]byte // different callers lock neighbouring lanes
}

// waiter is a caller that waits for a request of another one.
type waiter struct {
	into     []uint64
	messages chan message // has room for one message
	gone     bool         // the caller has left; the lane's mu guards it
}

// message makes a waiter lead the next request, or contains the result of the request in progress.
type message struct {
	lead  bool
	first uint64 // of the waiter's numbers
	err   error
}

// fill takes numbers, alone or together with others.
func (l *lane) fill(ctx context.Context, g *Numbers, into []uint64) error {
	w := &waiter{into: into, messages: make(chan message, 1)}
	l.mu.Lock()
	if l.busy {
		l.waiting = append(l.waiting, w)
		l.mu.Unlock()
		select {
		case t := <-w.messages:
			if !t.lead {
				return w.took(t)
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

// took writes the numbers of a result. Only the caller writes to its own slice, so it can leave at any time.
func (w *waiter) took(t message) error {
	if t.err != nil {
		return t.err
	}
	for i := range w.into {
		w.into[i] = t.first + uint64(i)
	}
	return nil
}

// giveUp leaves the lane. The numbers of a request in progress are lost. A caller that has become the leader
// meanwhile passes the lead on.
func (l *lane) giveUp(ctx context.Context, w *waiter) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case t := <-w.messages:
		if !t.lead {
			return w.took(t)
		}
		l.passOn()
	default:
		w.gone = true
		l.waiting = slices.DeleteFunc(l.waiting, func(other *waiter) bool { return other == w })
	}
	return fmt.Errorf("wait for those before: %w", context.Cause(ctx))
}

// lead runs a request for this caller and those that wait, and then makes the next one lead. It yields before it
// collects the waiting callers. If a request is shorter than the time in which callers come back, half of them would
// miss each request otherwise.
//
// The request has the leader's context, so it ends with the leader's time. The others then need another request, with
// the context of the next leader. Numbers that the first one took meanwhile are lost.
func (l *lane) lead(ctx context.Context, g *Numbers, w *waiter) error {
	runtime.Gosched() // callers that were just answered, and come back at once, can join
	together, n := l.join(g.most, len(w.into))
	first, err := g.take(ctx, n)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil && ctx.Err() != nil {
		together = slices.DeleteFunc(together, func(other *waiter) bool { return other.gone })
		l.waiting = append(together, l.waiting...)
	} else {
		next := first + uint64(len(w.into))
		for _, other := range together {
			other.messages <- message{first: next, err: err}
			next += uint64(len(other.into))
		}
	}
	l.passOn()
	return w.took(message{first: first, err: err})
}

// join removes waiting callers from the lane whose numbers fit in a request with n, and returns its size with theirs.
func (l *lane) join(most, n int) (together []*waiter, all int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := 0
	for taken < len(l.waiting) && n+len(l.waiting[taken].into) <= most {
		n += len(l.waiting[taken].into)
		taken++
	}
	together = append(together, l.waiting[:taken]...)
	l.waiting = append(l.waiting[:0], l.waiting[taken:]...)
	return together, n
}

// passOn makes the next caller lead. The caller holds mu.
func (l *lane) passOn() {
	if len(l.waiting) == 0 {
		l.busy = false
		return
	}
	next := l.waiting[0]
	l.waiting = append(l.waiting[:0], l.waiting[1:]...)
	next.messages <- message{lead: true}
}
