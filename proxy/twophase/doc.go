// Package twophase makes a transaction over several shards one: how its branches
// are named, in what order it is committed, where the decision is kept, and how
// what somebody left half done is finished.
//
// It owns the table locus.decision on every shard, the order of a commit's steps
// and the recovery of branches that are in doubt. It never runs a client's
// statement, never holds a client's connection (what a commit does on those comes
// in as functions), and decides nothing by time alone: a branch is rolled back
// only once the decision to commit has become impossible.
//
// # The protocol
//
// The first shard of a transaction, its home, has a plain local transaction; the
// others have XA branches. To commit, the branches are prepared, then the home
// transaction inserts a row into locus.decision and commits. That commit is the
// decision. Then the branches are committed, and the row is removed once all of
// them are.
//
// Who finds a prepared branch asks its home, whose name is in the branch's own:
// with the row there, it commits the branch. Without, it first inserts a row that
// says the opposite under the same primary key. Either that fails, since the
// decision came first, or the decision can't be inserted any more. So any process
// may recover at any time, several at once, and nobody must be known to be dead.
package twophase
