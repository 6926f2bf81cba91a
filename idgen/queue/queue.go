// Package queue keeps numbers of any generator ready in advance. It counts the low m bits in memory, and a filler fetches the
// bits above.
//
// It owns the ready numbers and the measurement of their consumption. It never returns a number that another process could
// have, because each of the inner generator's numbers stands for 2ᵐ of its own.
package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"locus/idgen"
)

// Options are the settings of a Queue. Zero fields get the default in parentheses.
type Options struct {
	Bits  uint          // m: bits counted in memory, 0 to 20
	Ahead time.Duration // how long the ready numbers last at the measured rate (5 ms)
	Most  int           // most inner numbers that are ready (4,096)
	// Preload is the percentage of the ready numbers that is used before the filler fetches more (50), 1 to 100. With 100
	// it fetches only numbers that callers wait for, and as many as they need.
	Preload int
	// Interval is the least time between two requests to the inner generator while no caller waits (0).
	Interval time.Duration
	Now      func() time.Time
}

// Queue is safe for concurrent use. The owner calls Close.
type Queue struct {
	inner   idgen.Numbers
	options Options

	mu      sync.Mutex
	ready   []uint64 // unused inner numbers; mu guards this and all fields below
	base    uint64   // the inner number with left numbers remaining
	left    uint64
	taken   uint64 // since the last measurement
	since   time.Time
	want    int       // inner numbers that should be ready
	waiting []*waiter // callers in the order in which they get numbers; while there are any, nothing is ready
	lacks   uint64    // numbers that they wait for

	wake   chan struct{} // holds one token if the filler has work
	urgent chan struct{} // holds one token if a caller waits
	ctx    context.Context
	cancel context.CancelFunc
	ended  chan struct{}
}

// waiter is a caller that waits for numbers.
type waiter struct {
	into  []uint64   // the rest that it lacks; the queue's mu guards it
	begun bool       // a request began while it waited; the queue's mu guards it
	done  chan error // has room for the one result
}

var _ idgen.Numbers = (*Queue)(nil)

// New returns a queue and starts its filler.
func New(inner idgen.Numbers, o Options) (*Queue, error) {
	if o.Bits > 20 {
		return nil, fmt.Errorf("queue: %d bits in memory: use 0 to 20", o.Bits)
	}
	o.Ahead = cmp.Or(o.Ahead, 5*time.Millisecond)
	o.Most = cmp.Or(o.Most, 4096)
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Preload = cmp.Or(o.Preload, 50)
	if o.Preload < 1 || o.Preload > 100 {
		return nil, fmt.Errorf("queue: preload at %d %%: use 1 to 100", o.Preload)
	}
	q := &Queue{inner: inner, options: o, want: 1, wake: make(chan struct{}, 1), urgent: make(chan struct{}, 1), ended: make(chan struct{})}
	q.ctx, q.cancel = context.WithCancel(context.Background())
	q.since = o.Now()
	go q.fill()
	return q, nil
}

// ErrClosed is returned after Close.
var ErrClosed = errors.New("the queue is closed")

// Fill implements idgen.Numbers. It waits only if too few numbers are ready. Callers get numbers in the order in which they
// came, so none waits longer than for the request in progress and the one after it, which is for all callers that wait.
func (q *Queue) Fill(ctx context.Context, into []uint64) error {
	w, err := q.take(into)
	if w == nil {
		return err
	}
	select {
	case err = <-w.done:
	case <-ctx.Done():
		if q.leave(w) {
			return fmt.Errorf("queue: wait for the generator: %w", context.Cause(ctx))
		}
		err = <-w.done
	}
	if err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	return nil
}

// take takes ready numbers. If there are too few, it returns a waiter for the rest and wakes the filler.
func (q *Queue) take(into []uint64) (*waiter, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ctx.Err() != nil {
		return nil, fmt.Errorf("queue: %w", ErrClosed)
	}
	n := q.give(into)
	if n == len(into) {
		if len(q.ready) < q.least() {
			signal(q.wake)
		}
		return nil, nil
	}
	w := &waiter{into: into[n:], done: make(chan error, 1)}
	q.waiting = append(q.waiting, w)
	q.lacks += uint64(len(w.into))
	signal(q.wake)
	signal(q.urgent)
	return w, nil
}

// give writes ready numbers, and returns how many there were.
func (q *Queue) give(into []uint64) (n int) {
	for n < len(into) {
		if q.left == 0 {
			if len(q.ready) == 0 {
				break
			}
			q.base, q.left, q.ready = q.ready[0]<<q.options.Bits, 1<<q.options.Bits, q.ready[1:]
		}
		into[n] = q.base + (1<<q.options.Bits - q.left)
		q.left--
		n++
	}
	q.taken += uint64(n)
	return n
}

// leave removes a caller that stops waiting. It returns false if the caller already has its result.
func (q *Queue) leave(w *waiter) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, w)
	if i < 0 {
		return false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	q.lacks -= uint64(len(w.into))
	return true
}

// signal puts a token into a channel that holds one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// rest waits for the interval, or until a caller waits.
func (q *Queue) rest() {
	if q.options.Interval == 0 {
		return
	}
	timer := time.NewTimer(q.options.Interval)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-q.urgent:
	case <-q.ctx.Done():
	}
}

// fill is the one goroutine that calls the inner generator.
func (q *Queue) fill() {
	defer close(q.ended)
	for {
		missing := q.missing()
		if missing == 0 {
			select {
			case <-q.wake:
				continue
			case <-q.ctx.Done():
				return
			}
		}
		select {
		case <-q.urgent: // this request is for the caller
		default:
		}
		numbers := make([]uint64, missing)
		err := q.inner.Fill(q.ctx, numbers)
		if err == nil {
			err = q.fits(numbers)
		}
		q.put(numbers, err)
		if err != nil {
			select {
			case <-q.wake: // not before another request
			case <-q.ctx.Done():
				return
			}
			continue
		}
		q.rest()
	}
}

func (q *Queue) fits(numbers []uint64) error {
	for _, n := range numbers {
		if n >= 1<<(63-q.options.Bits) {
			return fmt.Errorf("number %d and %d bits: %w", n, q.options.Bits, idgen.ErrOutOfRange)
		}
	}
	return nil
}

// missing returns how many inner numbers to fetch, for the rate since the last time or for waiting callers. Numbers that
// waiting callers get late don't count for the rate.
func (q *Queue) missing() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.options.Now()
	if elapsed := now.Sub(q.since); elapsed >= q.options.Ahead || elapsed < 0 {
		rate := float64(q.taken) / max(elapsed, q.options.Ahead).Seconds()
		wanted := rate * q.options.Ahead.Seconds() / float64(uint64(1)<<q.options.Bits)
		q.want = max(1, min(q.options.Most, int(wanted)+1))
		q.taken, q.since = 0, now
	}
	for _, w := range q.waiting {
		w.begun = true
	}
	each := uint64(1) << q.options.Bits
	lacks := int(min((q.lacks+each-1)/each, uint64(q.options.Most)))
	if len(q.ready) >= max(q.least(), lacks) {
		return 0
	}
	return max(lacks, q.full()) - len(q.ready)
}

// full returns how many inner numbers are ready after the filler has fetched: for twice the time Ahead, so that the filler
// isn't woken for each number taken, or none.
func (q *Queue) full() int {
	if q.options.Preload == 100 {
		return 0
	}
	return min(2*q.want, q.options.Most)
}

// least returns how many inner numbers must be ready. If there are fewer, the filler is woken.
func (q *Queue) least() int {
	if q.options.Preload == 100 {
		return 0
	}
	return max(1, q.full()*(100-q.options.Preload)/100)
}

// put adds the numbers of a request, and gives them to the callers that wait. An error is for the callers that waited when the
// request began. For the others there is another request.
func (q *Queue) put(numbers []uint64, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err != nil {
		q.endWaits(err, func(w *waiter) bool { return w.begun })
	} else {
		q.ready = append(q.ready, numbers...)
	}
	for len(q.waiting) > 0 {
		w := q.waiting[0]
		n := q.give(w.into)
		w.into, q.lacks = w.into[n:], q.lacks-uint64(n)
		if len(w.into) > 0 {
			signal(q.wake)
			signal(q.urgent)
			return
		}
		q.waiting = q.waiting[1:]
		w.done <- nil
	}
}

// endWaits returns an error to the selected callers that wait.
func (q *Queue) endWaits(err error, of func(*waiter) bool) {
	q.waiting = slices.DeleteFunc(q.waiting, func(w *waiter) bool {
		if of(w) {
			q.lacks -= uint64(len(w.into))
			w.done <- err
		}
		return of(w)
	})
}

// Close ends the filler and waits for it. Ready numbers are lost.
func (q *Queue) Close() {
	q.cancel()
	<-q.ended
	q.mu.Lock()
	defer q.mu.Unlock()
	q.endWaits(ErrClosed, func(*waiter) bool { return true })
}
