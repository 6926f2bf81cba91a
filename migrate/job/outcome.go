package job

import (
	"cmp"
	"slices"
	"time"
)

// Outcomes is how statements on a job's genes have fared on its two shards, since
// proxies know of it.
type Outcomes struct{ Source, Target Tally }

// Tally is how many statements failed, and how many took how long. It is a value
// that is replaced, never changed.
type Tally struct {
	Failed uint64
	Times  []Times // ascending
}

// Times is how many statements took up to so long, and longer than those of the
// entry before.
type Times struct {
	UpTo  time.Duration
	Count uint64
}

// Statements is how many there were.
func (t Tally) Statements() (n uint64) {
	for _, x := range t.Times {
		n += x.Count
	}
	return n
}

// Rate is the share of them that failed.
func (t Tally) Rate() float64 {
	n := t.Statements()
	if n == 0 {
		return 0
	}
	return float64(t.Failed) / float64(n)
}

// P99 is what 99 of 100 took at most; 0 if there were none.
func (t Tally) P99() time.Duration {
	left := t.Statements() / 100 // that may be slower
	for _, x := range slices.Backward(t.Times) {
		if x.Count > left {
			return x.UpTo
		}
		left -= x.Count
	}
	return 0
}

// Slower is how many took longer.
func (t Tally) Slower(than time.Duration) (n uint64) {
	for _, x := range t.Times {
		if x.UpTo > than {
			n += x.Count
		}
	}
	return n
}

// Plus is both together.
func (t Tally) Plus(o Tally) Tally {
	return t.with(o, func(a, b uint64) uint64 { return a + b })
}

// Since is what has come since an earlier tally. Where counts were lost meanwhile,
// with a proxy, it is what is left.
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

// Fared is a tally in few words.
type Fared struct {
	Statements uint64  `json:"statements"`
	Failed     uint64  `json:"failed"`
	P99Ms      float64 `json:"p99_ms"`
}

// Fared sums a tally up.
func (t Tally) Fared() Fared {
	return Fared{t.Statements(), t.Failed, round(float64(t.P99().Microseconds()) / 1000)}
}
