package twophase

import "sync/atomic"

// Counts are recovery's counters, for metrics.
type Counts struct {
	Committed  atomic.Uint64 // branches that recovery committed
	RolledBack atomic.Uint64 // branches that recovery rolled back
	// InDoubt is the number of branches that were prepared for too long at the last scan.
	InDoubt atomic.Int64
}
