// Package segment hands out sequence numbers from memory, in runs (segments) that a shared store has granted to this
// process alone.
//
// It owns the counters of one process: the segment in use, the standby loaded in advance, and the size of the next one.
// It never hands out a number that the store has not granted, and never hands one out twice. It never dials a store:
// see Store and, over any key-value store with compare-and-swap, CASStore.
//
// # Counters
//
// Genes share counters. A cluster has 1 to 65,536 counter groups, and each group is a range of genes. More groups mean
// fewer conflicts between processes in the store, and more numbers lost by a restart. With another number of groups a
// gene would use a counter that has given, or will give, the same numbers to other IDs of the gene. So
// CASStore.PinGroups makes a process with another number refuse to start. CASStore.Regroup changes the number for all
// processes, and Grouped follows.
//
// # Segments
//
// When a tenth of the segment in use is taken, or another configured share, exactly one goroutine loads the standby. A
// caller waits only if both are used up, until its own deadline. If the load fails, every waiting caller gets the error, and the next call loads
// again. A failed background load is retried each time that another tenth is taken.
//
// A run of n numbers is always consecutive. If the segment in use is too short for a run, the caller moves on to the
// next one and the rest is lost. Keeping it for shorter runs would give later callers lower numbers.
//
// # Never twice
//
// A segment exists only in this process's memory, so a crash, a pause or a clock that jumps can only lose numbers. A
// load with an unknown outcome is never assumed to have succeeded or failed: its numbers are lost, and the next load
// continues from the store's value. A store that grants numbers at or below ones that it granted before is refused.
package segment
