package txn

import (
	"sync/atomic"

	"locus/proxy/twophase"
)

// Counts are what the connections of all sessions add up, for metrics.
type Counts struct {
	Transactions Transactions
	OnReplicas   atomic.Uint64 // reads that a replica answered
	reserved     struct {
		now   [reasons]atomic.Int64
		total [reasons]atomic.Uint64
	}
}

// Reserved says how many connections are reserved for a reason, and how often that
// has happened.
func (c *Counts) Reserved(r Reason) (now int64, total uint64) {
	return c.reserved.now[r].Load(), c.reserved.total[r].Load()
}

// Transactions count those that had a part on a shard, by how many parts and by
// what became of them.
type Transactions struct{ counts [2][3]atomic.Uint64 }

func (t *Transactions) count(shards int, v twophase.Verdict) {
	t.counts[min(shards, 2)-1][v].Add(1)
}

// One and Several give how many transactions on one shard, and on several, ended
// in a way.
func (t *Transactions) One(v twophase.Verdict) uint64     { return t.counts[0][v].Load() }
func (t *Transactions) Several(v twophase.Verdict) uint64 { return t.counts[1][v].Load() }
