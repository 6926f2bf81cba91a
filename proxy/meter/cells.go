package meter

import (
	"math"
	"slices"
	"sync/atomic"
	"time"
)

// Times of statements are counted in cells. Each lies within one bucket of
// Prometheus's native histograms of NativeSchema and within one of the classic
// buckets of Bounds, so both are told exactly from one count.

// NativeSchema is how fine native buckets are: their bounds grow by the eighth root of two.
const NativeSchema = 3

const (
	nativePerOctave = 1 << NativeSchema
	lowestOctave    = -20 // a microsecond
	highestOctave   = 10  // 17 minutes
	nativeBuckets   = (highestOctave - lowestOctave) * nativePerOctave
)

// NativeZero is up to which time, in seconds, all is in one native bucket.
var NativeZero = math.Ldexp(1, lowestOctave)

// Bounds are the classic buckets' upper bounds, in seconds.
var Bounds = [...]float64{
	0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
}

// manyCells is one for what is up to NativeZero, one for each native bucket, and one
// more for each that a bound cuts in two: all but that of a second.
const manyCells = 1 + nativeBuckets + len(Bounds) - 1

// grid says where cells begin. It never changes.
var grid = newGrid()

type cellGrid struct {
	within [nativePerOctave + 1]float64 // 2^(i/8)
	first  [nativeBuckets]int           // cell of a native bucket
	cut    [nativeBuckets]float64       // the bound within it, or more than any time
	upTo   [manyCells]float64           // the upper bound of a cell, in seconds
	native [manyCells]int               // the native bucket of a cell; -1: none
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

// bound is the lower bound of a native bucket.
func (g *cellGrid) bound(i int) float64 {
	return math.Ldexp(g.within[i%nativePerOctave], lowestOctave+i/nativePerOctave)
}

// of is the cell of a time. What takes longer than the last one's is in the last one.
func (g *cellGrid) of(took time.Duration) int {
	seconds := float64(took) / 1e9
	if seconds <= NativeZero {
		return 0
	}
	bits := math.Float64bits(seconds)
	octave := int(bits>>52) - 1023
	mantissa := math.Float64frombits(bits&(1<<52-1) | 1023<<52) // from 1 to 2
	at := 0
	for step := nativePerOctave / 2; step > 0; step /= 2 {
		if mantissa > g.within[at+step] {
			at += step
		}
	}
	if mantissa == 1 { // bounds belong to the bucket below
		octave, at = octave-1, nativePerOctave-1
	}
	i := min((octave-lowestOctave)*nativePerOctave+at, nativeBuckets-1)
	if seconds > g.cut[i] {
		return g.first[i] + 1
	}
	return g.first[i]
}

// cells count times. Few of them are ever used: those of the statements of one digest
// lie close together. So they come in runs, which are made when they are needed.
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

// all gives the cells that have counted something.
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

// Distribution is how many statements took how long.
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

// Classic is how many took up to each of Bounds, those of the bounds below included.
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

// Native is how many are in each native bucket, by Prometheus's numbers of them, and
// how many in that of NativeZero.
func (d *Distribution) Native() (zero uint64, buckets map[int]int64) {
	buckets = map[int]int64{}
	for i, n := range d.counts {
		if native := grid.native[i]; n > 0 && native >= 0 {
			buckets[lowestOctave*nativePerOctave+native+1] += int64(n)
		}
	}
	return d.counts[0], buckets
}

// Times is the same in short, as [Times] says it.
func (d *Distribution) Times() (list []Times) {
	for i, n := range d.counts {
		if n > 0 {
			list = append(list, Times{int64(math.Round(grid.upTo[i] * 1e9)), n})
		}
	}
	return list
}

// Quantile is the time within which a share of the statements was done, as far as the
// list tells it: up to a ninth more than it was.
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

// AddTimes adds up two lists.
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

// SinceTimes is what has come to a list since an earlier one; false, if it is no later
// one of the same.
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
