package idgen

import (
	"context"
	"errors"
	"fmt"
)

// Numbers makes numbers no two of which are equal. It is the one interface of
// all generators, and safe for concurrent use.
type Numbers interface {
	// Fill writes a number into each place of into. No other place, in this
	// call or any other, in this process or another, got or will get the same.
	// An error means that the caller has none of them; some may be used up.
	// How many are asked for is never a reason: a generator that takes only so
	// many at once takes several times.
	Fill(ctx context.Context, into []uint64) error
}

// ErrOutOfRange says that a generator has given all its numbers: it will give
// none again.
var ErrOutOfRange = errors.New("the generator has no numbers left")

// ErrNotAsked is in the error of a generator whose server failed a while ago and was not asked this time: it may be well again.
var ErrNotAsked = errors.New("is not asked for a while")

// Run is Numbers out of consecutive runs.
type Run struct {
	// Take gives the first of n consecutive numbers that are the caller's alone.
	Take func(ctx context.Context, n int) (first uint64, err error)
	// Most is how many it gives at once (0: any number). A call for more has several runs.
	Most int
}

// Fill implements Numbers.
func (r Run) Fill(ctx context.Context, into []uint64) error {
	for len(into) > 0 {
		n := len(into)
		if r.Most > 0 {
			n = min(n, r.Most)
		}
		if err := r.fill(ctx, into[:n]); err != nil {
			return err
		}
		into = into[n:]
	}
	return nil
}

// fill writes one run.
func (r Run) fill(ctx context.Context, into []uint64) error {
	first, err := r.Take(ctx, len(into))
	if err != nil {
		return err
	}
	if first+uint64(len(into))-1 < first {
		return fmt.Errorf("numbers from %d on: %w", first, ErrOutOfRange)
	}
	for i := range into {
		into[i] = first + uint64(i)
	}
	return nil
}

// One is one number of a generator.
func One(ctx context.Context, g Numbers) (uint64, error) {
	var one [1]uint64
	err := g.Fill(ctx, one[:])
	return one[0], err
}
