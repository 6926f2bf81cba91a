package orderid

import (
	"errors"
	"fmt"

	"locus/idgen/gene"
)

// ErrSequenceExhausted is matched by every *ExhaustedError.
var ErrSequenceExhausted = errors.New("sequence exhausted")

// ExhaustedError means that a layout has no room for the next sequence number. No ID was issued, and this counter will
// issue none again.
type ExhaustedError struct{ Layout Layout }

func (e *ExhaustedError) Error() string {
	if e.Layout.IsZero() {
		return "sequence exhausted: the counter is at its last number, and no generator wraps: use a new tag"
	}
	remedy := "move the table to layout bytes16 (BINARY(16)), whose sequence has 84 bits"
	switch e.Layout.name {
	case "bytes16":
		remedy = "no wider layout exists; rows must go to a new table with counters of its own"
	case "js53":
		remedy = "move the table to layout int64 (drivers must then read IDs as strings) or bytes16"
	}
	return fmt.Sprintf("sequence exhausted: layout %s ends at sequence %s: %s",
		e.Layout.name, e.Layout.MaxSequence(), remedy)
}

// Is makes errors.Is(err, ErrSequenceExhausted) true.
func (e *ExhaustedError) Is(target error) bool { return target == ErrSequenceExhausted }

// misfit returns the error for the part that doesn't fit.
func (l Layout) misfit(g gene.Gene, version uint32, s Sequence) error {
	switch {
	case l.IsZero():
		return errors.New("compose ID: the zero Layout has no bits: take one from orderid.ByName")
	case g > l.gene.Last():
		return fmt.Errorf("compose ID: gene %s is beyond %s, the last one of layout %s", g, l.gene.Last(), l.name)
	case version > 0 && l.version == 0:
		return fmt.Errorf("compose ID: layout %s has no bits for key version %d: use version 0, or layout int64", l.name, version)
	case version > l.MaxVersion():
		return fmt.Errorf("compose ID: key version %d is beyond %d, the last one of layout %s", version, l.MaxVersion(), l.name)
	default:
		return fmt.Errorf("compose ID: sequence %s: %w", s, &ExhaustedError{l})
	}
}
