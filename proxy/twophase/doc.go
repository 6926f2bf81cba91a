// Package twophase makes a transaction on several shards atomic. It defines the names of its branches, the order of its
// commit, the place of the decision, and the recovery of unfinished transactions.
//
// It owns the table locus.decision on every shard, the order of a commit's steps, and the recovery of in-doubt
// branches. It never runs a client's statement and never holds a client's connection; the steps on those are passed in
// as functions. It never decides by time alone: a branch is rolled back only once the decision to commit has become
// impossible.
//
// # The protocol
//
// The first shard of a transaction, its home, has a plain local transaction. The others have XA branches. To commit,
// the branches are prepared. Then the home transaction inserts a row into locus.decision and commits. That commit is
// the decision. Then the branches are committed, and the row is removed once all of them are.
//
// A process that finds a prepared branch asks the branch's home, whose name is part of the branch's own. If the row
// exists, it commits the branch. If not, it first inserts a row with the opposite decision under the same primary key.
// Either the insert fails, because the decision came first, or the decision can no longer be inserted. So any process
// may recover at any time, several at once, and no process need be known to be dead.
package twophase
