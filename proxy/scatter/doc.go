// Package scatter reads several shards' answers to one statement and merges them into one answer for the client. It
// concatenates rows, merges sorted streams or combines aggregates.
//
// It owns the comparisons and the arithmetic for that, and the handling of answers that are no longer wanted. It works
// in the caller's goroutine, on connections that the caller has borrowed and sent the command on. It never sends a
// command and never decides what may be merged; package plan does. It keeps at most one row of each shard and two
// buffers, so a slow client slows the shards.
package scatter
