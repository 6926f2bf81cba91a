// Package pool puts Redis in front of a durable store of segments. Nodes take their runs from a pool of numbers in
// Redis, and the durable store is asked only to fill the pool.
//
// It owns the protocol between the two: a pool's state in Redis, the scripts that change it, a node's next step after
// each answer, and two circuit breakers. It never dials either server, never returns a number that the durable store
// has not granted, and keeps nothing on disk.
//
// # The protocol
//
// The durable store grants runs. A run is put into Redis once, either as the current run or as the reserve behind it.
// The reserve is granted in advance, so that the pool can continue for its length while the durable store is
// unavailable. If both are used up, nobody continues. Extending a pool past its grant would repeat numbers that the
// durable store grants to a node that reaches it but not Redis. The exhaustive model in the tests finds exactly that.
//
// While Redis is unavailable, nodes take their runs from the durable store. A node's runs must increase, so it can't
// use what the pool has left. A reserve below the numbers that its filler was given is replaced, and its numbers are
// lost.
//
// A failing server isn't asked for a while, unless no other server has answered.
//
// # A Redis that forgets
//
// Redis may lose acknowledged writes in a crash or a failover. So a pool belongs to one process of the server in one
// role. The scripts compare the run ID and the replication ID that were written with the pool with the server's own. On
// a server that restarted, or on a promoted replica, they differ, and the rest of such a pool is never handed out. No
// detection in time is needed, since each script checks for itself.
//
// # A durable store that forgets
//
// A pool remembers the highest number ever put into it. A grant at or below it is either late, and is lost, or comes
// from a store that was restored to an older state. A second one is refused as segment.ErrWentBack.
package pool
