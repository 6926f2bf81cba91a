package owned

import (
	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/migrate/changes"
	"locus/router"
)

// Side is one of the two servers of a move.
type Side uint8

// The sides. Their values are indexes of [Bounds].
const (
	Source Side = iota
	Target
)

// Other returns the other side.
func (s Side) Other() Side { return 1 - s }

// Bounds are positions of both logs during the fence of a step. The old owner owned the rows until the bound of its log. The
// new owner owns them from the bound of its own log on.
type Bounds [2]changes.Bound

// Step is a completed step.
type Step struct {
	Rows router.Part // the rows that changed hands
	To   Side
	At   Bounds
}

// History is the ownership of a move's rows. For each row and each log it is a sequence of intervals of positions: the
// bounds of the steps with that row separate them.
type History struct {
	Steps  []Step // in chronological order; old steps may be missing if both streams have passed them
	Target router.Part
}

// Owned reports whether a side owned a row at a transaction of its log. The first step with the row whose bound is after the
// transaction ended the interval, so the side owned the row if it was the old owner in that step. If there is no such step,
// the result is whether the side is the current owner.
func (h History) Owned(by Side, at changes.Transaction, g gene.Gene, r orderid.Residue) bool {
	for i := range h.Steps {
		if s := &h.Steps[i]; s.Rows.Has(g, r) && at.Before(s.At[by]) {
			return s.To != by
		}
	}
	return h.Target.Has(g, r) == (by == Target)
}
