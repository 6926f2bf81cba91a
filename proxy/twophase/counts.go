package twophase

import "sync/atomic"

// Counts are what recovery adds up, for metrics.
type Counts struct {
	Committed  atomic.Uint64 // branches that recovery committed
	RolledBack atomic.Uint64 // branches that it rolled back
	// InDoubt are the branches that stood prepared for longer than they should at
	// the last look.
	InDoubt atomic.Int64
}
