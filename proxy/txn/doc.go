// Package txn keeps a session's connections to shards.
//
// It owns the set of connections and the reason for each one. They are the branches of the transaction, reserved connections, and the connections
// from which cursors are read. A reserved connection has state that no other connection has. The package begins, commits and rolls back
// transactions, and sets savepoints. It commits on one shard, or in two phases on several. Only this package takes connections from pools and
// gives them back. The code that runs a statement gets a connection by Acquire, as a [Lease]. It ends the lease by Done, Refused, Fail, Lost or
// Release. The package never parses what a client sent, never decides to which shard a statement goes, and never answers a client.
//
// # When a connection is a branch
//
// A connection is a branch exactly as long as its server has a transaction open on it. Otherwise the session's next transaction would not include
// it, and would end it. The status in each answer shows whether one is open. If an error leaves that in doubt, the package asks the server.
//
// # Concurrency
//
// Only the session's goroutine uses a value of this package. Nothing here has a lock.
package txn
