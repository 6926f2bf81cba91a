// Package txn keeps the connections that a session has to shards.
//
// It owns which ones those are and why: the branches of the transaction, what is reserved between statements since it
// holds state that no other connection has, and what cursors are read from. It begins, marks, commits and rolls back, on one
// shard or in two phases on several. It alone takes connections from pools and gives them back: what runs a statement gets
// one by Acquire, as a [Lease], and ends that by Done, Refused, Fail, Lost or Release. It never reads what a client sent, never
// decides which shard a statement goes to, and never answers a client.
//
// # When a connection is a branch
//
// Exactly as long as its server has a transaction open there: a connection without one would be left out of what the session
// begins next, and end it. The status of each answer tells, and where an error leaves it in doubt the server is asked.
//
// # Who uses it
//
// The session's goroutine alone: nothing here has a lock.
package txn
