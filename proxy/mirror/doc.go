// Package mirror sends copies of some reads of moving genes to the target of their move and compares the answers. A missing index,
// cold caches or a missing row at the target thus become visible before any client depends on the target.
//
// It owns the queue of copies, the few workers that send them over connections of the target's pool, the comparison, and the
// reports. It never writes, never blocks a client, never exceeds its bounds, and never decides where a statement runs. The client
// already has its answer when the copy is made. That answer was hashed while it was relayed.
//
// # What a difference is
//
// A target's answer that differs from the source's may only lag behind. Both are therefore asked again, in this order:
//
//  1. the source
//  2. the target, once the stream has applied everything that the source had logged by then
//  3. the source again
//
// The three answers decide:
//
//   - The target's answer equals one of the source's: it was lag.
//   - The source gave the same answer twice and the target another one: no data of the source explains that. If two consecutive
//     checks find it, it is a difference.
//   - The source's two answers differ: the rows are changing, and the check is inconclusive. Reads that remain inconclusive after
//     several checks are only counted as unsettled.
//
// One check isn't enough, because MySQL shows rows some milliseconds before it counts their GTIDs, and logs changes that it doesn't
// show yet.
package mirror
