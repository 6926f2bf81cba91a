package snapshot

import (
	"cmp"
	"strconv"

	"locus/proxy/gather"
	"locus/proxy/sysvars"
	"locus/router/plan"
)

// Guard is the decision about a statement that is valid but expensive.
type Guard uint8

const (
	// Allow runs it.
	Allow Guard = iota
	// Warn runs it and adds a warning for SHOW WARNINGS.
	Warn
	// Refuse returns an error.
	Refuse
)

// Default limits of the rows that a statement may gather.
const (
	gatherRows  = 1_000_000
	gatherBytes = 256 << 20
)

// MayScatter applies the user's guard to a read of several shards.
func (a *Account) MayScatter(shards int, diagnostics *sysvars.Diagnostics) error {
	switch a.Scatter {
	case Refuse:
		return &plan.Refusal{Code: plan.ScatterRefused, Message: "this user may not read several shards at once: name the owner, the ID or the order number in WHERE"}
	case Warn:
		diagnostics.Warn("this statement read " + strconv.Itoa(shards) + " shards")
	case Allow:
	}
	return nil
}

// MayScatterWrite applies the user's guard to a change of rows on several shards.
func (a *Account) MayScatterWrite(shards int, diagnostics *sysvars.Diagnostics) error {
	switch a.ScatterWrites {
	case Refuse:
		return plan.Scattered()
	case Warn:
		diagnostics.Warn("this statement changed rows on " + strconv.Itoa(shards) + " shards")
	case Allow:
	}
	return nil
}

// MayRunUnfiltered applies the user's guard to an UPDATE or DELETE without WHERE.
func (a *Account) MayRunUnfiltered(f *plan.Facts, diagnostics *sysvars.Diagnostics) error {
	switch {
	case a.Unfiltered == Allow || !f.Unfiltered:
	case a.Unfiltered == Warn:
		diagnostics.Warn("this statement had no WHERE")
	default:
		return &plan.Refusal{Code: plan.UnfilteredRefused, Message: "this user may not change all rows of a table: name them in WHERE"}
	}
	return nil
}

// largeOffset is the number of rows that a read of several shards may skip before the user's guard applies. Each shard sends that
// many rows.
const largeOffset = 10_000

// MaySkip applies the user's guard for large OFFSETs to a read of several shards.
func (a *Account) MaySkip(rows uint64, diagnostics *sysvars.Diagnostics) error {
	switch {
	case rows <= largeOffset || a.LargeOffset == Allow:
	case a.LargeOffset == Warn:
		diagnostics.Warn("this statement skipped " + strconv.FormatUint(rows, 10) + " rows of several shards")
	default:
		return &plan.Refusal{Code: plan.OffsetRefused, Message: "this user may not skip more than " + strconv.Itoa(largeOffset) + " rows of several shards: go on from the last row's values in WHERE"}
	}
	return nil
}

// GatherLimits returns the limits of what a statement may gather, and the bounds above which the user's guard applies. The default
// limits apply in any case.
func (a *Account) GatherLimits() (most, bounds gather.Limits) {
	bounds = gather.Limits{Rows: cmp.Or(a.GatherRows, gatherRows), Bytes: cmp.Or(a.GatherBytes, gatherBytes)}
	if a.LargeGather == Refuse {
		return bounds, bounds
	}
	return gather.Limits{Rows: max(bounds.Rows, gatherRows), Bytes: max(bounds.Bytes, gatherBytes)}, bounds
}

// Gathered adds a warning if a statement gathered more than the user's bounds.
func (a *Account) Gathered(rows, bytes int64, diagnostics *sysvars.Diagnostics) {
	if _, bounds := a.GatherLimits(); a.LargeGather == Warn && (rows > bounds.Rows || bytes > bounds.Bytes) {
		diagnostics.Warn("this statement gathered " + strconv.FormatInt(rows, 10) + " rows of several shards")
	}
}
