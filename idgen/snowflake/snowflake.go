package snowflake

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"locus/idgen"
)

const (
	workerBits   = 10
	sequenceBits = 12
	timeBits     = 41

	maxWorker   = 1<<workerBits - 1
	maxSequence = 1<<sequenceBits - 1
	maxMillis   = 1<<timeBits - 1

	// A new millisecond begins at a random number below this, so that rarely generated numbers don't all end in the
	// same bits.
	firstBelow = 100

	tolerated = 5 // ms by which a clock may go back
)

var _ = [1]struct{}{}[64-1-timeBits-workerBits-sequenceBits]

// epoch is 2024-01-01 UTC in milliseconds.
const epoch = 1704067200000

// Epoch returns the time from which milliseconds are counted unless another one is declared: 2024-01-01 UTC.
func Epoch() time.Time { return time.UnixMilli(epoch).UTC() }

// ErrClock means that the clock is too far back to wait for.
var ErrClock = errors.New("the clock went back")

// Bound tracks the times that belong to this process alone.
type Bound interface {
	// Raise reserves all milliseconds up to at least ms for this process, or returns an error. It returns the last
	// reserved one.
	Raise(ctx context.Context, ms uint64) (last uint64, err error)
}

// Generator is safe for concurrent use.
type Generator struct {
	worker uint64
	bound  Bound
	now    func() time.Time

	mu       sync.Mutex // guards the fields below; held while a bound is raised
	last     uint64     // the millisecond in use
	sequence uint64     // the next sequence number in it
	until    uint64     // times up to here are reserved
}

var _ idgen.Numbers = (*Generator)(nil)

// New returns a generator for a worker whose times begin above after.
func New(worker int, after uint64, b Bound, now func() time.Time) (*Generator, error) {
	if worker < 0 || worker > maxWorker {
		return nil, fmt.Errorf("snowflake: worker %d: use 0 to %d", worker, maxWorker)
	}
	return &Generator{worker: uint64(worker), bound: b, now: now, last: after, sequence: maxSequence + 1}, nil
}

// Fill implements idgen.Numbers. The numbers increase.
func (g *Generator) Fill(ctx context.Context, into []uint64) error { return g.fill(ctx, into, 0) }

// Since is a generator whose milliseconds begin at another time. It shares the worker, the milliseconds and the sequence
// with the Generator that it was made of, so two of them never use one sequence number of a millisecond.
type Since struct {
	of     *Generator
	offset int64 // ms from its beginning to epoch; negative if it begins later
}

var _ idgen.Numbers = Since{}

// Since returns the generator of numbers that count milliseconds from start.
func (g *Generator) Since(start time.Time) Since { return Since{g, epoch - start.UnixMilli()} }

// Fill implements idgen.Numbers. The numbers increase.
func (s Since) Fill(ctx context.Context, into []uint64) error { return s.of.fill(ctx, into, s.offset) }

// Left returns the unused share of the 41 bits of milliseconds, from 1 down to 0.
func (s Since) Left() float64 {
	return 1 - float64(min(max(s.of.now().UnixMilli()-epoch+s.offset, 0), maxMillis))/maxMillis
}

func (g *Generator) fill(ctx context.Context, into []uint64, offset int64) error {
	for i := range into {
		for {
			wait, err := g.next(ctx, &into[i], offset)
			if err != nil {
				return fmt.Errorf("snowflake: %w", err)
			}
			if wait == 0 {
				break
			}
			if err := pause(ctx, wait); err != nil {
				return fmt.Errorf("snowflake: wait for the next millisecond: %w", err)
			}
		}
	}
	return nil
}

// next generates a number, or returns how long to wait before the next attempt.
func (g *Generator) next(ctx context.Context, into *uint64, offset int64) (wait time.Duration, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, err := g.millis()
	switch {
	case err != nil:
		return 0, err
	case now < g.last && g.last-now > tolerated:
		return 0, fmt.Errorf("%w by %d ms, and numbers were made up to there: correct the clock, or wait", ErrClock, g.last-now)
	case now < g.last:
		return time.Duration(g.last-now) * time.Millisecond, nil
	case now == g.last && g.sequence > maxSequence:
		return 100 * time.Microsecond, nil
	}
	if now > g.until {
		if err := g.raise(ctx, now); err != nil {
			return 0, err
		}
	}
	at, err := since(now, offset)
	if err != nil {
		return 0, err
	}
	if now > g.last {
		g.last, g.sequence = now, rand.Uint64N(firstBelow)
	}
	*into = at<<(workerBits+sequenceBits) | g.worker<<sequenceBits | g.sequence
	g.sequence++
	return 0, nil
}

// millis returns the clock's time in ms since epoch.
func (g *Generator) millis() (uint64, error) {
	ms := g.now().UnixMilli() - epoch
	if ms < 0 {
		return 0, fmt.Errorf("%w to before 2024", ErrClock)
	}
	return uint64(ms), nil
}

// since returns the milliseconds of a number whose time is counted from offset ms before epoch.
func since(ms uint64, offset int64) (uint64, error) {
	at := int64(ms) + offset
	switch {
	case at < 0:
		return 0, fmt.Errorf("%w to before %s, the epoch of its numbers", ErrClock, time.UnixMilli(epoch-offset).UTC().Format(time.RFC3339Nano))
	case at > maxMillis:
		return 0, fmt.Errorf("%d bits of milliseconds are over: %w", timeBits, idgen.ErrOutOfRange)
	}
	return uint64(at), nil
}

func (g *Generator) raise(ctx context.Context, ms uint64) error {
	last, err := g.bound.Raise(ctx, ms)
	if err != nil {
		return err
	}
	if last < ms {
		return fmt.Errorf("times up to %d are this process's, %d is not", last, ms)
	}
	g.until = last
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Parts decomposes a number whose milliseconds count from start.
func Parts(n uint64, start time.Time) (at time.Time, worker, sequence int) {
	ms := n >> (workerBits + sequenceBits)
	return start.Add(time.Duration(ms) * time.Millisecond).UTC(), int(n >> sequenceBits & maxWorker), int(n & maxSequence)
}
