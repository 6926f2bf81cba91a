// Package mirror sends copies of some reads of moving genes to the target of their move, and compares the answers: what the
// target lacks, an index, warm caches, a row, shows before any client depends on it.
//
// It owns the copies that wait, the few workers that send them, each over a connection that the target's pool lends, the
// comparison, and what is told of it. It never writes, never waits for anything on a client's way, never keeps more than its
// bounds, and never decides where a statement runs: a client has its answer, which was hashed as it passed, before the copy is
// made.
//
// # What a difference is
//
// An answer of the target that is not the source's may be late. So both are asked again, until that can be told: the source,
// then, once the stream has applied at the target what the source had logged by then, the target, and then the source once
// more. If the target's answer is one of the source's, it was lag. If the source said the same both times and the target
// something else, nothing that the source has explains it; seen twice in a row, it is a difference. Twice, because MySQL shows
// rows some milliseconds before it counts their GTIDs, and logs what it does not show yet. If the source's answers differ, the
// rows are changing, and nothing can be told at this look. What cannot be told within several looks is counted as unsettled,
// and as nothing else.
package mirror
