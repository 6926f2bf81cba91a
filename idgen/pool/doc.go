// Package pool puts Redis in front of a durable store of segments: nodes take
// their runs from a pool of numbers in Redis, and the durable store is asked
// only to fill the pool.
//
// It owns the protocol between the two: the state that a counter's pool has in
// Redis, the scripts that change it, what a node does next after each answer,
// and two circuit breakers. It never dials either server, never hands out a
// number that the durable store has not granted, and keeps nothing on disk.
//
// # The protocol
//
// The durable store grants runs; a run is put into Redis once, as what is being
// handed out or as the reserve behind it. The reserve is granted in advance, so
// that the pool goes on for its length while the durable store is away. When
// both are used up nobody goes on: to extend a pool past its grant would repeat
// the numbers that the durable store grants to a node that still reaches it and
// not Redis. The exhaustive model in the tests finds exactly that.
//
// While Redis is away, nodes take their runs from the durable store. Runs of a
// node rise, so what the pool has left is of no use to those that did: a reserve
// below what its filler was given gives way, and its numbers are lost.
//
// A server that fails is not asked for a while, unless nobody else has answered.
//
// # A Redis that forgets
//
// Redis keeps what it acknowledged neither through a crash nor through a
// failover. So a pool belongs to one process of the server in one role: the
// scripts compare the run ID and the replication ID that were written with the
// pool to the server's own. On a server that restarted, or was a replica and
// was promoted, they differ, and nothing that such a pool has left is handed
// out again. Nothing has to be detected in time: each script looks for itself.
//
// # A durable store that forgets
//
// A pool remembers the highest number that was ever put into it. A grant at or
// below it comes late, and is lost, or comes from a store that was restored to
// an older state: a second one is refused as segment.ErrWentBack.
package pool
