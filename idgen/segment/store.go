package segment

import (
	"context"
	"errors"
	"fmt"
)

// Grant is the numbers First to Last, both included. They belong only to the caller that got the grant, for ever.
type Grant struct{ First, Last uint64 }

// Store remembers how far each counter has been granted, for all processes.
type Store interface {
	// Extend grants the next n numbers of a counter, starting at 1. It is linearizable across processes. After an error
	// the outcome is unknown: the numbers may be granted, and are then lost and never handed out.
	Extend(ctx context.Context, counter string, n uint64) (Grant, error)
}

// ErrWentBack means that a store's counter is lower than this process has seen it, for example after a restore from a
// backup. Its grants would repeat numbers.
var ErrWentBack = errors.New("the counter went back")

// ErrUnknownTag means that a store has no counter with that name and creates none by itself.
var ErrUnknownTag = errors.New("unknown tag")

// ErrMoved means that a counter is closed for ever, because its genes were given to counters of another number of
// groups.
var ErrMoved = errors.New("the counter is closed: its genes have other counters now")

// Check refuses a grant that no correct store returns, given that numbers up to highest were granted before.
func (g Grant) Check(size, highest uint64) error {
	switch {
	case g.First == 0 || g.Last < g.First || g.Last-g.First != size-1:
		return fmt.Errorf("the store granted %d..%d when asked for %d numbers: they are not used", g.First, g.Last, size)
	case g.First <= highest:
		return fmt.Errorf("%w: the store granted %d..%d, but numbers up to %d were granted before: raise its bound above every number in use",
			ErrWentBack, g.First, g.Last, highest)
	}
	return nil
}
