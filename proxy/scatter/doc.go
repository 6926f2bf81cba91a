// Package scatter reads one statement's answers from several shards and makes
// one answer of them for the client: rows one shard after another, sorted
// streams merged, or aggregates combined.
//
// It owns the comparison and the arithmetic that this takes, and what becomes of
// the answers that are no longer wanted. It works in the caller's goroutine on
// connections that the caller has borrowed and has sent the command on; it never
// sends one itself, never decides what may be merged (package plan does) and
// never keeps more than one row of each shard and two buffers, so a slow client
// slows the shards.
package scatter
