package snapshot

import (
	"cmp"
	"strconv"

	"locus/proxy/gather"
	"locus/proxy/sysvars"
	"locus/router/plan"
)

// Guard says what becomes of a statement that is allowed and dear.
type Guard uint8

const (
	// Allow it.
	Allow Guard = iota
	// Warn: it runs, and SHOW WARNINGS tells.
	Warn
	// Refuse it.
	Refuse
)

// What a statement may gather at most.
const (
	gatherRows  = 1_000_000
	gatherBytes = 256 << 20
)

// MayScatter holds a read of several shards to the user's guard.
func (a *Account) MayScatter(shards int, told *sysvars.Diagnostics) error {
	switch a.Scatter {
	case Refuse:
		return &plan.Refusal{Code: plan.ScatterRefused, Message: "this user may not read several shards at once: name the owner, the ID or the order number in WHERE"}
	case Warn:
		told.Warn("this statement read " + strconv.Itoa(shards) + " shards")
	case Allow:
	}
	return nil
}

// MayScatterWrite holds a change of rows on several shards to the user's guard.
func (a *Account) MayScatterWrite(shards int, told *sysvars.Diagnostics) error {
	switch a.ScatterWrites {
	case Refuse:
		return plan.Scattered()
	case Warn:
		told.Warn("this statement changed rows on " + strconv.Itoa(shards) + " shards")
	case Allow:
	}
	return nil
}

// MayRunUnfiltered holds an UPDATE or DELETE without WHERE to the user's guard.
func (a *Account) MayRunUnfiltered(f *plan.Facts, told *sysvars.Diagnostics) error {
	switch {
	case a.Unfiltered == Allow || !f.Unfiltered:
	case a.Unfiltered == Warn:
		told.Warn("this statement had no WHERE")
	default:
		return &plan.Refusal{Code: plan.UnfilteredRefused, Message: "this user may not change all rows of a table: name them in WHERE"}
	}
	return nil
}

// largeOffset is how many rows a read of several shards may skip before it is a
// matter of the user's guard: each shard sends as many.
const largeOffset = 10_000

// MaySkip holds a read of several shards to the user's guard against large OFFSETs.
func (a *Account) MaySkip(rows uint64, told *sysvars.Diagnostics) error {
	switch {
	case rows <= largeOffset || a.LargeOffset == Allow:
	case a.LargeOffset == Warn:
		told.Warn("this statement skipped " + strconv.FormatUint(rows, 10) + " rows of several shards")
	default:
		return &plan.Refusal{Code: plan.OffsetRefused, Message: "this user may not skip more than " + strconv.Itoa(largeOffset) + " rows of several shards: go on from the last row's values in WHERE"}
	}
	return nil
}

// GatherLimits are what a statement may gather, and the bounds from which on it is a
// matter of the user's guard. Whatever that says, everybody's limits hold.
func (a *Account) GatherLimits() (most, bounds gather.Limits) {
	bounds = gather.Limits{Rows: cmp.Or(a.GatherRows, gatherRows), Bytes: cmp.Or(a.GatherBytes, gatherBytes)}
	if a.LargeGather == Refuse {
		return bounds, bounds
	}
	return gather.Limits{Rows: max(bounds.Rows, gatherRows), Bytes: max(bounds.Bytes, gatherBytes)}, bounds
}

// Gathered tells of a statement that has gathered more than the user's bounds.
func (a *Account) Gathered(rows, bytes int64, told *sysvars.Diagnostics) {
	if _, bounds := a.GatherLimits(); a.LargeGather == Warn && (rows > bounds.Rows || bytes > bounds.Bytes) {
		told.Warn("this statement gathered " + strconv.FormatInt(rows, 10) + " rows of several shards")
	}
}
