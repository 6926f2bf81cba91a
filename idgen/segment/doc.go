// Package segment hands out sequence numbers from memory, in runs (segments)
// that a shared store has granted to this process alone.
//
// It owns the counters of one process: the segment in use, the standby that is
// loaded before it is needed, and how large the next one is. It never hands out
// a number that the store has not granted, never hands one out twice, and never
// dials a store: see Store and, over any key-value store with compare-and-swap,
// CASStore.
//
// # Counters
//
// Genes share counters: a cluster has 1 to 65,536 counter groups, and each
// group is a range of genes. More groups mean fewer collisions of processes in
// the store and more numbers lost by a restart. With another number of groups a
// gene would have a counter that has given the same numbers to others of its IDs,
// or will. So CASStore.PinGroups makes a process with another number refuse to
// start; CASStore.Regroup changes it for all, and Grouped follows.
//
// # Segments
//
// When a tenth of the segment in use is taken, exactly one goroutine loads the
// standby. A caller waits only when both are used up, until its own deadline;
// if the load fails, every waiting caller gets the error and the next call
// loads again. A failed load in the background is tried again each time that
// another tenth is taken.
//
// A run of n numbers is always consecutive. When the segment in use is too
// short for a run, the caller moves on to the next one and the rest is lost:
// keeping it for shorter runs would give later callers lower numbers.
//
// # Never twice
//
// A segment exists only in this process's memory, so a crash, a pause or a
// clock that jumps can lose numbers and nothing else. A load whose outcome is
// unknown is never guessed at: its numbers are lost, and the next load goes on
// from what the store says. A store that grants numbers at or below ones that
// it granted before is refused.
package segment
