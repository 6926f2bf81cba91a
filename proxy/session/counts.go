package session

import "sync/atomic"

// Counts are what the sessions of a process add up, for metrics.
type Counts struct {
	Statements atomic.Uint64 // commands that ran SQL
	OneShard   atomic.Uint64 // of which on one shard
	Scattered  atomic.Uint64 // of which on several
	Stamped    atomic.Uint64 // rows that got a generated ID
	Refused    atomic.Uint64 // by the planner
	Parsed     atomic.Uint64 // texts whose plan was not in the cache
	Failed     atomic.Uint64 // errors of ours or of a shard's connection
}
