package fence

import (
	"context"
	"errors"
	"time"

	"locus/router"
)

// HeldError says that a statement was not sent, since its genes are changing hands: it may be planned again, or its client told.
// It is never wrapped.
type HeldError struct{ why string }

func (e *HeldError) Error() string { return e.why }

var (
	errHeld     = &HeldError{"its rows' genes are changing hands"}
	errUnleased = &HeldError{"this proxy has lost its lease in etcd, and the genes of its rows are on the move"}
	errOutdated = &HeldError{"its rows' genes may have changed hands since it was planned"}
)

// ErrTooLong says that a statement was held for as long as it may.
var ErrTooLong = errors.New("held for too long")

// Hold is the wait of one statement, which may be held again in the map that comes next.
type Hold struct {
	gate     *Gate
	deadline *time.Timer
}

// Hold begins a wait, if there is a place for it.
func (g *Gate) Hold() (Hold, bool) {
	select {
	case g.config.Places <- struct{}{}:
		return Hold{g, time.NewTimer(g.config.Hold)}, true
	default:
		return Hold{}, false
	}
}

// End gives the place back.
func (h Hold) End() {
	h.deadline.Stop()
	<-h.gate.config.Places
}

// Limit is how long it lasts at most.
func (h Hold) Limit() time.Duration { return h.gate.config.Hold }

// leaseLook is how often a statement is tried again that waits for the lease.
const leaseLook = 50 * time.Millisecond

// Wait waits until another map may be in force than that which held the statement; open: its transaction goes on meanwhile. The
// error is ErrTooLong, or why ctx ended.
func (h Hold) Wait(ctx context.Context, m *router.Map, held *HeldError, open bool) error {
	changed := h.gate.config.Changed()
	if h.gate.current() != m {
		return nil
	}
	h.gate.Step(open)
	var look <-chan time.Time
	if held == errUnleased {
		timer := time.NewTimer(leaseLook)
		defer timer.Stop()
		look = timer.C
	}
	select {
	case <-changed:
	case <-look:
	case <-h.deadline.C:
		return ErrTooLong
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}
