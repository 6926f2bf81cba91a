package fence

import (
	"context"
	"errors"
	"time"

	"locus/router"
)

// HeldError means that a statement was not sent because its genes are changing hands. It may be planned again, or the client is
// informed. It is never wrapped.
type HeldError struct{ why string }

func (e *HeldError) Error() string { return e.why }

var (
	errHeld     = &HeldError{"its rows' genes are changing hands"}
	errUnleased = &HeldError{"this proxy has lost its lease in etcd, and the genes of its rows are being moved"}
	errOutdated = &HeldError{"its rows' genes may have changed hands since it was planned"}
)

// ErrTooLong means that a statement was held for the longest time allowed.
var ErrTooLong = errors.New("held for too long")

// Hold is the wait of one statement. It may be held again under the next map.
type Hold struct {
	gate     *Gate
	deadline *time.Timer
}

// Hold begins a wait. It returns false if no place is free.
func (g *Gate) Hold() (Hold, bool) {
	select {
	case g.config.Places <- struct{}{}:
		return Hold{g, time.NewTimer(g.config.Hold)}, true
	default:
		return Hold{}, false
	}
}

// End ends the wait and frees its place.
func (h Hold) End() {
	h.deadline.Stop()
	<-h.gate.config.Places
}

// Limit returns the longest duration of the wait.
func (h Hold) Limit() time.Duration { return h.gate.config.Hold }

// leaseLook is the retry interval of a statement that waits for the lease.
const leaseLook = 50 * time.Millisecond

// Wait waits until the map that held the statement may no longer be in force. open reports whether its transaction continues
// meanwhile. The error is ErrTooLong, or ctx's cause.
func (h Hold) Wait(ctx context.Context, m *router.Map, held *HeldError, open bool) error {
	return h.wait(ctx, func() bool { return h.gate.current() != m }, held, open)
}

// WaitUntil waits until over returns true, or may return true because a new snapshot is in force. open and the errors are those of Wait.
func (h Hold) WaitUntil(ctx context.Context, over func() bool, open bool) error {
	return h.wait(ctx, over, nil, open)
}

func (h Hold) wait(ctx context.Context, over func() bool, held *HeldError, open bool) error {
	changed := h.gate.config.Changed()
	if over() {
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
