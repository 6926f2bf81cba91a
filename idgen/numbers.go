package idgen

import (
	"context"
	"errors"
	"fmt"
)

// Numbers generates unique numbers. It is the one interface of all generators, and safe for concurrent use.
type Numbers interface {
	// Fill writes a number to each element of into. All numbers are unique, across calls and processes. After an error the
	// caller has none of them, and some may be used up. The count is never a reason to fail: a generator with a limit per
	// request makes several requests.
	Fill(ctx context.Context, into []uint64) error
}

// ErrOutOfRange means that a generator has given out all its numbers.
var ErrOutOfRange = errors.New("the generator has no numbers left")

// ErrNotAsked is wrapped by the error of a generator whose server failed recently and was not asked this time. It may be
// available again.
var ErrNotAsked = errors.New("is not asked for a while")

// Run implements Numbers with consecutive runs.
type Run struct {
	// Take returns the first of n consecutive numbers that belong to the caller alone.
	Take func(ctx context.Context, n int) (first uint64, err error)
	// Most is the longest run of one Take; 0 for no limit. A longer request takes several runs.
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

// One returns one number of a generator.
func One(ctx context.Context, g Numbers) (uint64, error) {
	var one [1]uint64
	err := g.Fill(ctx, one[:])
	return one[0], err
}
