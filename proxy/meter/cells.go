package meter

import (
	"math"
	"slices"
	"sync/atomic"
	"time"
)

// Times of statements are counted in cells. Each cell lies within one bucket of Prometheus's native histograms of [NativeSchema],
// and within one classic bucket of [Bounds]. Both histograms are therefore derived exactly from one count.

// NativeSchema is the resolution of the native buckets. Their bounds grow by the eighth root of two.
const NativeSchema = 3

const (
	nativePerOctave = 1 << NativeSchema
	lowestOctave    = -20 // a microsecond
	highestOctave   = 10  // 17 minutes
	nativeBuckets   = (highestOctave - lowestOctave) * nativePerOctave
)

// NativeZero is the upper bound of the native zero bucket, in seconds.
var NativeZero = math.Ldexp(1, lowestOctave)

// Bounds are the upper bounds of the classic buckets, in seconds.
var Bounds = [...]float64{
	0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
}

// manyCells counts one cell up to NativeZero, one per native bucket, and one more for each native bucket that a classic
// bound splits. Only the bound of one second splits none.
const manyCells = 1 + nativeBuckets + len(Bounds) - 1

// grid contains the cells' bounds. It never changes.
var grid = newGrid()

type cellGrid struct {
	within [nativePerOctave + 1]float64 // 2^(i/8)
	first  [nativeBuckets]int           // first cell of a native bucket
	cut    [nativeBuckets]float64       // the classic bound within it, or infinity
	upTo   [manyCells]float64           // upper bound of a cell, in seconds
	native [manyCells]int               // native bucket of a cell; -1 for none
}

func newGrid() *cellGrid {
	g := &cellGrid{native: [manyCells]int{-1}}
	for i := range g.within {
		g.within[i] = math.Exp2(float64(i) / nativePerOctave)
	}
	g.upTo[0] = NativeZero
	next := 1
	for i := range g.first {
		lower, upper := g.bound(i), g.bound(i+1)
		g.first[i], g.cut[i] = next, math.Inf(1)
		if at := slices.IndexFunc(Bounds[:], func(b float64) bool { return lower < b && b < upper }); at >= 0 {
			g.cut[i] = Bounds[at]
			g.upTo[next], g.native[next] = Bounds[at], i
			next++
		}
		g.upTo[next], g.native[next] = upper, i
		next++
	}
	return g
}

// bound returns the lower bound of a native bucket.
func (g *cellGrid) bound(i int) float64 {
	return math.Ldexp(g.within[i%nativePerOctave], lowestOctave+i/nativePerOctave)
}

// of returns the cell of a time. A time above the last cell's bound is counted in the last cell.
func (g *cellGrid) of(took time.Duration) int {
	seconds := float64(took) / 1e9
	if seconds <= NativeZero {
		return 0
	}
	bits := math.Float64bits(seconds)
	octave := int(bits>>52) - 1023
	mantissa := math.Float64frombits(bits&(1<<52-1) | 1023<<52) // between 1 and 2
	at := 0
	for step := nativePerOctave / 2; step > 0; step /= 2 {
		if mantissa > g.within[at+step] {
			at += step
		}
	}
	if mantissa == 1 { // a bound belongs to the bucket below it
		octave, at = octave-1, nativePerOctave-1
	}
	i := min((octave-lowestOctave)*nativePerOctave+at, nativeBuckets-1)
	if seconds > g.cut[i] {
		return g.first[i] + 1
	}
	return g.first[i]
}

// cells counts times. Few of its counters are used, because the statements of one digest take similar times. The counters are
// therefore allocated in runs when needed.
type cells struct {
	runs [(manyCells + runOfCells - 1) / runOfCells]atomic.Pointer[[runOfCells]atomic.Uint64]
	sum  atomic.Uint64 // nanoseconds
}

const runOfCells = 16

func (c *cells) add(cell int, took time.Duration) {
	c.count(cell, 1)
	c.sum.Add(uint64(max(0, took)))
}

func (c *cells) count(cell int, n uint64) {
	p := &c.runs[cell/runOfCells]
	run := p.Load()
	if run == nil {
		p.CompareAndSwap(nil, new([runOfCells]atomic.Uint64))
		run = p.Load()
	}
	run[cell%runOfCells].Add(n)
}

// all yields the cells with a count above 0.
func (c *cells) all(yield func(cell int, n uint64) bool) {
	for i := range c.runs {
		run := c.runs[i].Load()
		if run == nil {
			continue
		}
		for j := range run {
			if n := run[j].Load(); n > 0 && !yield(i*runOfCells+j, n) {
				return
			}
		}
	}
}

// Distribution is a histogram of statement times.
type Distribution struct {
	Count  uint64
	Sum    time.Duration
	counts [manyCells]uint64
}

func (d *Distribution) take(c *cells) {
	for cell, n := range c.all {
		d.counts[cell] += n
		d.Count += n
	}
	d.Sum += time.Duration(c.sum.Load())
}

// Classic returns the cumulative counts for Bounds.
func (d *Distribution) Classic() map[float64]uint64 {
	buckets := make(map[float64]uint64, len(Bounds))
	at, sum := 0, uint64(0)
	for i, n := range d.counts {
		for at < len(Bounds) && grid.upTo[i] > Bounds[at] {
			buckets[Bounds[at]] = sum
			at++
		}
		sum += n
	}
	return buckets
}

// Native returns the count of the zero bucket, and those of the native buckets by Prometheus's bucket index.
func (d *Distribution) Native() (zero uint64, buckets map[int]int64) {
	buckets = map[int]int64{}
	for i, n := range d.counts {
		if native := grid.native[i]; n > 0 && native >= 0 {
			buckets[lowestOctave*nativePerOctave+native+1] += int64(n)
		}
	}
	return d.counts[0], buckets
}

// Times returns the distribution in the short form of [Times].
func (d *Distribution) Times() (list []Times) {
	for i, n := range d.counts {
		if n > 0 {
			list = append(list, Times{int64(math.Round(grid.upTo[i] * 1e9)), n})
		}
	}
	return list
}

// Quantile returns the time within which the given share of the statements ended. It may exceed the true value by up to a ninth,
// because it is the bound of a bucket.
func Quantile(list []Times, share float64) time.Duration {
	all := uint64(0)
	for _, t := range list {
		all += t.Count
	}
	wanted, sum := uint64(math.Ceil(share*float64(all))), uint64(0)
	for _, t := range list {
		if sum += t.Count; sum >= wanted {
			return time.Duration(t.UpToNs)
		}
	}
	return 0
}

// AddTimes adds two lists.
func AddTimes(a, b []Times) []Times {
	sum := make([]Times, 0, max(len(a), len(b)))
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].UpToNs < b[0].UpToNs:
			sum, a = append(sum, a[0]), a[1:]
		case len(a) == 0 || b[0].UpToNs < a[0].UpToNs:
			sum, b = append(sum, b[0]), b[1:]
		default:
			sum = append(sum, Times{a[0].UpToNs, a[0].Count + b[0].Count})
			a, b = a[1:], b[1:]
		}
	}
	return sum
}

// SinceTimes returns the difference between a list and an earlier one. It returns false if now is not a later state of before.
func SinceTimes(now, before []Times) ([]Times, bool) {
	var since []Times
	for _, t := range now {
		if len(before) > 0 && before[0].UpToNs < t.UpToNs {
			return nil, false
		}
		if len(before) > 0 && before[0].UpToNs == t.UpToNs {
			if before[0].Count > t.Count {
				return nil, false
			}
			t.Count -= before[0].Count
			before = before[1:]
		}
		if t.Count > 0 {
			since = append(since, t)
		}
	}
	return since, len(before) == 0
}
