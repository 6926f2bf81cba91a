package stamp

import (
	"context"
	"errors"
	"sync/atomic"

	"locus/router/catalog"
)

// PausedError means that numbers are temporarily not available, because a definition is setting the next
// number. Wait returns when they may be available again.
type PausedError struct {
	error
	Wait func(context.Context) error
}

// Paused returns an error that waits by the given function.
func Paused(err error, wait func(context.Context) error) *PausedError { return &PausedError{err, wait} }

func (e *PausedError) Unwrap() error { return e.error }

// Held is the numbers of one session. It records whether the running command holds numbers that its rows may not have yet, so
// that these are not given again. Its owner calls Release at the end of each command.
type Held struct {
	Numbers
	table atomic.Pointer[catalog.Table]
}

// Next implements [Numbers]. It waits while numbers are paused.
func (h *Held) Next(ctx context.Context, t *catalog.Table, n int) (first uint64, err error) {
	err = h.hold(ctx, t, func() (err error) { first, err = h.Numbers.Next(ctx, t, n); return err })
	return first, err
}

// Raise implements [Numbers]. It waits while numbers are paused.
func (h *Held) Raise(ctx context.Context, t *catalog.Table, above uint64) error {
	return h.hold(ctx, t, func() error { return h.Numbers.Raise(ctx, t, above) })
}

// hold records the table before it takes numbers. So if a caller of Holds sees no record, later numbers are taken from the
// counter as it is then. While a command waits without numbers, it holds nothing.
func (h *Held) hold(ctx context.Context, t *catalog.Table, take func() error) error {
	before := h.table.Load()
	for {
		h.table.Store(t)
		err := take()
		paused, is := errors.AsType[*PausedError](err)
		if !is {
			return err
		}
		if before == nil || before.Counted() != t.Counted() {
			h.table.Store(nil)
		}
		if err := paused.Wait(ctx); err != nil {
			return err
		}
	}
}

// Holds reports whether the command holds numbers that are counted under one of the names. It is safe for concurrent use.
func (h *Held) Holds(counted catalog.Change) bool {
	t := h.table.Load()
	return t != nil && counted.Names(t.Counted())
}

// Release records that all numbers are in rows or will never be.
func (h *Held) Release() {
	if h.table.Load() != nil {
		h.table.Store(nil)
	}
}
