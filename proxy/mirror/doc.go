// Package mirror sends copies of some reads of moving genes to the target of their move and compares the answers. So a missing
// index, cold caches or a missing row at the target show before any client depends on it.
//
// It owns the queue of copies, the few workers that send them over connections of the target's pool, the comparison, and the
// reports. It never writes, never blocks a client, never exceeds its bounds, and never decides where a statement runs. The
// client already has its answer when the copy is made. That answer was hashed as it passed.
//
// # What a difference is
//
// A target's answer that differs from the source's may just lag behind. So both are asked again until that is decided: first
// the source; then the target, once the stream has applied everything that the source had logged by then; then the source
// again. If the target's answer equals one of the source's, it was lag. If the source gave the same answer both times and the
// target another one, no data of the source explains it. If that is seen twice in a row, it is a difference. Twice, because
// MySQL shows rows some milliseconds before it counts their GTIDs, and logs changes that it doesn't show yet. If the source's
// two answers differ, the rows are changing, and the check is inconclusive. Reads that remain inconclusive after several
// checks are counted as unsettled only.
package mirror
