// Package failover watches the shards that have several servers, and promotes a server without an operator.
//
// It decides when a promotion or a repair is due, and which problems are left to an operator. It never changes
// a server or a document itself: package switchover does that, under the shard's lease.
package failover
