package meter

import (
	"strconv"
	"sync/atomic"
	"time"
)

// tally contains the sums of the figures of statements.
type tally struct {
	cells
	ran, failed, rows, several atomic.Uint64
	sent, gathered             atomic.Uint64 // for statements on several shards: the number of shards, and how many statements gathered rows
	copied, keyed              atomic.Uint64 // gathered rows, and those of them that were read by keys
	waited, held               atomic.Uint64 // nanoseconds
	slowest                    atomic.Int64  // nanoseconds
	last                       atomic.Int64  // since Epoch
	code                       atomic.Uint32 // code of the last error
	shards, users, codes       names
}

// Run describes a statement that has ended.
type Run struct {
	Lane  uint32 // the session's lane, always the same
	Kind  Kind
	Shard string // also NoShard or SeveralShards
	User  string
	// Shards is the number of shards that it was sent to. Gathered is true if their rows were gathered on one of them.
	Shards   int
	Gathered bool
	// Copied is the number of rows that were gathered. Keyed is the number of those that were read by the keys of other rows.
	Copied, Keyed uint64
	// Took is the time from the command's arrival to the end of its answer. Waited is the part that was spent waiting for
	// connections. Held is the part during which the statement was paused while genes changed hands.
	Took, Waited, Held time.Duration
	Rows               uint64
	Failed             bool
	Code               uint16        // MySQL's error code; 0 if none was sent
	At                 time.Duration // time of its end, since Epoch
}

func (t *tally) add(r *Run, cell int) {
	t.cells.add(cell, r.Took)
	t.ran.Add(1)
	t.last.Store(int64(r.At))
	if int64(r.Took) > t.slowest.Load() {
		raise(&t.slowest, int64(r.Took))
	}
	if r.Rows > 0 {
		t.rows.Add(r.Rows)
	}
	if r.Shard == SeveralShards {
		t.several.Add(1)
		t.sent.Add(uint64(r.Shards))
	}
	if r.Gathered {
		t.gathered.Add(1)
		t.copied.Add(r.Copied)
		t.keyed.Add(r.Keyed)
	}
	t.shards.add(r.Shard, cell, r.Took, r.Failed)
	t.users.add(r.User, cell, r.Took, r.Failed)
	if r.Failed {
		t.failed.Add(1)
		if r.Code != 0 {
			t.code.Store(uint32(r.Code))
			t.codes.add(strconv.Itoa(int(r.Code)), cell, r.Took, true)
		}
	}
	if r.Waited > 0 {
		t.waited.Add(uint64(r.Waited))
	}
	if r.Held > 0 {
		t.held.Add(uint64(r.Held))
	}
}

func raise(v *atomic.Int64, to int64) {
	for before := v.Load(); before < to && !v.CompareAndSwap(before, to); before = v.Load() {
	}
}

func (t *tally) merge(from *tally) {
	for cell, n := range from.all {
		t.count(cell, n)
	}
	t.sum.Add(from.sum.Load())
	t.ran.Add(from.ran.Load())
	t.failed.Add(from.failed.Load())
	t.rows.Add(from.rows.Load())
	t.several.Add(from.several.Load())
	t.sent.Add(from.sent.Load())
	t.gathered.Add(from.gathered.Load())
	t.copied.Add(from.copied.Load())
	t.keyed.Add(from.keyed.Load())
	t.waited.Add(from.waited.Load())
	t.held.Add(from.held.Load())
	raise(&t.slowest, from.slowest.Load())
	if last := from.last.Load(); last > t.last.Load() {
		t.last.Store(last)
		if code := from.code.Load(); code != 0 {
			t.code.Store(code)
		}
	} else if t.code.Load() == 0 {
		t.code.Store(from.code.Load())
	}
}
