// Package failover looks after the shards that have several servers, in a process that
// nobody orders anything.
//
// It owns when something is to be done, and what is left alone until a person says more. It
// never does anything to a server or a document itself: that is package switchover's,
// under the shard's lease.
package failover
