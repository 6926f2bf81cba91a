// Package queue keeps numbers of any generator ready before they are asked for:
// the low m bits are counted in memory, and a filler fetches what stands above.
//
// It owns the numbers that are ready and the rate at which they are taken. It
// never gives a number of which another process could have the same: each of the
// inner generator's stands for 2ᵐ of its own.
package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"locus/idgen"
)

// Options are the settings of a Queue. Fields left zero get the value that their
// comment names.
type Options struct {
	Bits  uint          // m: counted in memory, 0 to 20
	Ahead time.Duration // how long what is ready lasts at the rate measured (5 ms)
	Most  int           // inner numbers that are ready at most (4,096)
	Now   func() time.Time
}

// Queue is safe for concurrent use; the owner calls Close.
type Queue struct {
	inner   idgen.Numbers
	options Options

	mu     sync.Mutex
	ready  []uint64 // of the inner generator, not yet begun; guarded by mu, as all below
	base   uint64   // of which left numbers are left
	left   uint64
	taken  uint64 // since measured
	since  time.Time
	want   int           // inner numbers that should be ready
	lacks  uint64        // numbers that callers wait for
	err    error         // of the last attempt to fill
	filled chan struct{} // closed and replaced when ready or err changes

	wake   chan struct{} // holds one token when the filler has something to do
	ctx    context.Context
	cancel context.CancelFunc
	ended  chan struct{}
}

var _ idgen.Numbers = (*Queue)(nil)

// New begins to fill.
func New(inner idgen.Numbers, o Options) (*Queue, error) {
	if o.Bits > 20 {
		return nil, fmt.Errorf("queue: %d bits in memory: use 0 to 20", o.Bits)
	}
	o.Ahead = cmp.Or(o.Ahead, 5*time.Millisecond)
	o.Most = cmp.Or(o.Most, 4096)
	if o.Now == nil {
		o.Now = time.Now
	}
	q := &Queue{inner: inner, options: o, want: 1, filled: make(chan struct{}), wake: make(chan struct{}, 1), ended: make(chan struct{})}
	q.ctx, q.cancel = context.WithCancel(context.Background())
	q.since = o.Now()
	go q.fill()
	return q, nil
}

// ErrClosed is the answer after Close.
var ErrClosed = errors.New("the queue is closed")

// Fill implements idgen.Numbers. It waits only when nothing is ready.
func (q *Queue) Fill(ctx context.Context, into []uint64) error {
	for len(into) > 0 {
		n, filled, err := q.take(into)
		into = into[n:]
		if err != nil {
			return fmt.Errorf("queue: %w", err)
		}
		if n > 0 {
			continue
		}
		select {
		case <-filled:
			q.waited(len(into))
		case <-ctx.Done():
			q.waited(len(into))
			return fmt.Errorf("queue: wait for the generator: %w", context.Cause(ctx))
		}
	}
	return nil
}

// waited ends what take has begun that found nothing.
func (q *Queue) waited(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lacks -= uint64(n)
}

// take takes what is ready. With nothing, it gives what to wait for, and the filler knows how many are lacking.
func (q *Queue) take(into []uint64) (n int, filled <-chan struct{}, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ctx.Err() != nil {
		return 0, nil, ErrClosed
	}
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
	if len(q.ready) < q.least() || n < len(into) {
		select {
		case q.wake <- struct{}{}:
		default:
		}
	}
	if n == 0 && q.err != nil { // whoever comes next makes the filler try again
		err, q.err = q.err, nil
	} else if n == 0 {
		q.lacks += uint64(len(into))
	}
	return n, q.filled, err
}

// fill is the one goroutine that asks the inner generator.
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
		numbers := make([]uint64, missing)
		err := q.inner.Fill(q.ctx, numbers)
		if err == nil {
			err = q.fits(numbers)
		}
		q.put(numbers, err)
		if err != nil {
			select {
			case <-q.wake: // not before somebody asks again
			case <-q.ctx.Done():
				return
			}
		}
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

// missing is how many inner numbers should be fetched, at the rate since the
// last time, or for those who wait: what they get late says nothing of how many they would take.
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
	each := uint64(1) << q.options.Bits
	lacks := int(min((q.lacks+each-1)/each, uint64(q.options.Most)))
	if len(q.ready) >= max(q.least(), lacks) {
		return 0
	}
	return max(lacks, min(2*q.want, q.options.Most)) - len(q.ready)
}

// least is how many inner numbers must be ready. The filler is woken when there are fewer, and fetches twice as many: else it
// would be woken, and ask the generator, for each that is taken.
func (q *Queue) least() int { return min(q.want, max(1, q.options.Most/2)) }

func (q *Queue) put(numbers []uint64, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err == nil {
		q.ready = append(q.ready, numbers...)
	}
	q.err = err
	close(q.filled)
	q.filled = make(chan struct{})
}

// Close ends the filler and waits for it. What was ready is lost.
func (q *Queue) Close() {
	q.cancel()
	<-q.ended
	q.mu.Lock()
	defer q.mu.Unlock()
	close(q.filled)
	q.filled = make(chan struct{})
}
