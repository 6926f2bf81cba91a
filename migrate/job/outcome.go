package job

import (
	"cmp"
	"slices"
	"time"
)

// Outcomes holds the results of statements on a job's genes, for both shards, since the proxies learned of the
// job.
type Outcomes struct{ Source, Target Tally }

// Tally holds the number of failed statements and a histogram of latencies. It is replaced, never changed.
type Tally struct {
	Failed uint64
	Times  []Times // ascending
}

// Times is a bucket of the histogram: the number of statements that took at most UpTo, and longer than the bound of the
// previous bucket.
type Times struct {
	UpTo  time.Duration
	Count uint64
}

// Statements returns the number of statements.
func (t Tally) Statements() (n uint64) {
	for _, x := range t.Times {
		n += x.Count
	}
	return n
}

// Rate returns the share of statements that failed.
func (t Tally) Rate() float64 {
	n := t.Statements()
	if n == 0 {
		return 0
	}
	return float64(t.Failed) / float64(n)
}

// P99 returns the 99th percentile of the latencies; 0 if there were no statements.
func (t Tally) P99() time.Duration {
	left := t.Statements() / 100 // the number that may be slower
	for _, x := range slices.Backward(t.Times) {
		if x.Count > left {
			return x.UpTo
		}
		left -= x.Count
	}
	return 0
}

// Slower returns the number of statements that took longer than the given time.
func (t Tally) Slower(than time.Duration) (n uint64) {
	for _, x := range t.Times {
		if x.UpTo > than {
			n += x.Count
		}
	}
	return n
}

// Plus returns the sum of both tallies.
func (t Tally) Plus(o Tally) Tally {
	return t.with(o, func(a, b uint64) uint64 { return a + b })
}

// Since returns the difference from an earlier tally. If counts were lost because a proxy stopped, no bucket
// becomes negative.
func (t Tally) Since(earlier Tally) Tally {
	return t.with(earlier, func(a, b uint64) uint64 { return a - min(a, b) })
}

func (t Tally) with(o Tally, combine func(a, b uint64) uint64) Tally {
	counts := map[time.Duration][2]uint64{}
	for i, times := range [][]Times{t.Times, o.Times} {
		for _, x := range times {
			c := counts[x.UpTo]
			c[i] += x.Count
			counts[x.UpTo] = c
		}
	}
	out := Tally{Failed: combine(t.Failed, o.Failed)}
	for upTo, c := range counts {
		if n := combine(c[0], c[1]); n > 0 {
			out.Times = append(out.Times, Times{upTo, n})
		}
	}
	slices.SortFunc(out.Times, func(a, b Times) int { return cmp.Compare(a.UpTo, b.UpTo) })
	return out
}

// Fared is a summary of a tally.
type Fared struct {
	Statements uint64  `json:"statements"`
	Failed     uint64  `json:"failed"`
	P99Ms      float64 `json:"p99_ms"`
}

// Fared returns the summary of a tally.
func (t Tally) Fared() Fared {
	return Fared{t.Statements(), t.Failed, round(float64(t.P99().Microseconds()) / 1000)}
}
