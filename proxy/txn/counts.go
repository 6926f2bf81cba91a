package txn

import (
	"sync/atomic"

	"locus/proxy/twophase"
)

// Counts contains the counters of all sessions' connections, for metrics.
type Counts struct {
	Transactions Transactions
	OnReplicas   atomic.Uint64 // the number of reads that a replica answered
	reserved     struct {
		now   [reasons]atomic.Int64
		total [reasons]atomic.Uint64
	}
}

// Reserved returns how many connections are reserved for a reason, and how often one was.
func (c *Counts) Reserved(r Reason) (now int64, total uint64) {
	return c.reserved.now[r].Load(), c.reserved.total[r].Load()
}

// Transactions counts the transactions that joined at least one shard, by one or several shards, and by outcome.
type Transactions struct{ counts [2][3]atomic.Uint64 }

func (t *Transactions) count(shards int, v twophase.Verdict) {
	t.counts[min(shards, 2)-1][v].Add(1)
}

// One and Several return how many transactions on one shard, and on several shards, had an outcome.
func (t *Transactions) One(v twophase.Verdict) uint64     { return t.counts[0][v].Load() }
func (t *Transactions) Several(v twophase.Verdict) uint64 { return t.counts[1][v].Load() }
