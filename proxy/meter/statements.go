package meter

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Epoch is the reference point of this process's timestamps.
var Epoch = time.Now()

// MostDigests is the largest number of digests for which one proxy keeps figures, at 1 to 2 KB each.
const MostDigests = 4000

const (
	// quiet is how long a digest must not have been seen before it may be evicted.
	quiet = time.Minute
	// atOnce is the number of digests that are evicted together. sweepEvery is the interval between two searches for them.
	atOnce     = MostDigests / 16
	sweepEvery = time.Second
	// A digest seen more than oftenFrom times per second has separate counters for each lane, for up to mostOften
	// digests.
	oftenFrom = 50.0
	mostOften = 64
)

// Statements counts the cost of each digest's statements. The zero value is ready. It is safe for concurrent use.
//
// Its size is bounded. Once it contains MostDigests digests, it evicts those not seen for a minute and adds their figures to
// others. If none can be evicted, it counts new digests in others directly. The sum therefore includes every statement.
type Statements struct {
	mu     sync.Mutex // guards the fields below; never held across a wait; not taken to count
	kept   map[statementKey]*Digest
	others *tally // digests without figures of their own
	swept  time.Time
	often  int
	since  time.Time // time of the last Forget
	turned time.Time
	weight float64 // total weight of the counts that have decayed into the rates; approaches 1
	// recorded is the minute in which the last points were recorded.
	recorded time.Time
}

type statementKey struct {
	database string
	hash     uint64
}

// Digest contains the figures of one digest. Plans refer to it, so that counting needs no lookup.
type Digest struct {
	key    statementKey
	text   string
	tables []string
	kind   Kind

	gone  atomic.Bool // the digest was evicted; it is restored when its next statement ends
	often atomic.Bool // the digest has parts for all lanes
	parts [lanes]atomic.Pointer[tally]

	// Guarded by the lock of Statements.
	first          time.Time
	counted, spent uint64  // at the last Turn
	rate, load     float64 // statements per second; seconds per second
	past           *past   // nil if none is recorded

	timed atomic.Bool // times are counted by shard, for its past
}

// of returns a lane's part. All lanes share one part of a rare digest.
func (d *Digest) of(lane uint32) *tally {
	if !d.often.Load() {
		lane = 0
	}
	p := &d.parts[lane%lanes]
	if t := p.Load(); t != nil {
		return t
	}
	p.CompareAndSwap(nil, new(tally))
	if t := p.Load(); t != nil {
		if d.timed.Load() { // after it is in the parts, so that time can't miss it
			t.shards.time(true)
		}
		return t
	}
	return new(tally) // the digest was just evicted or forgotten
}

// Find returns the digest with that hash. It calls describe, which returns the text and the tables, if the digest is new. It returns
// nil if there is no place for another digest.
func (s *Statements) Find(database string, hash uint64, k Kind, describe func() (text string, tables []string)) *Digest {
	key := statementKey{database, hash}
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.kept[key]; d != nil {
		return d
	}
	if !s.makeRoom() {
		return nil
	}
	d := &Digest{key: key, kind: k}
	d.text, d.tables = describe()
	s.keep(d)
	return d
}

func (s *Statements) keep(d *Digest) {
	if s.kept == nil {
		s.kept = map[statementKey]*Digest{}
	}
	d.first = time.Now()
	s.kept[d.key] = d
}

// add counts a statement. d is a result of Find.
func (s *Statements) add(d *Digest, r *Run, cell int) {
	if d != nil && d.gone.Load() {
		d = s.restore(d)
	}
	if d == nil {
		s.otherTally().add(r, cell)
		return
	}
	d.of(r.Lane).add(r, cell)
}

// restore adds an evicted digest again, because a statement of it has ended. It returns nil if there is no place for it.
func (s *Statements) restore(d *Digest) *Digest {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch other := s.kept[d.key]; {
	case other != nil: // other may be d by now
		return other
	case !s.makeRoom():
		return nil
	}
	d.counted, d.spent, d.rate, d.load = 0, 0, 0, 0
	s.keep(d)
	d.gone.Store(false)
	return d
}

func (s *Statements) otherTally() *tally {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.others == nil {
		s.others = new(tally)
	}
	return s.others
}

// makeRoom evicts digests if there is no place for another one, and reports whether there is one.
func (s *Statements) makeRoom() bool {
	if len(s.kept) < MostDigests {
		return true
	}
	if time.Since(s.swept) < sweepEvery {
		return false
	}
	s.swept = time.Now()
	type seen struct {
		d    *Digest
		last int64
	}
	var old []seen
	for _, d := range s.kept {
		if last := d.last(); last < int64(time.Since(Epoch)-quiet) {
			old = append(old, seen{d, last})
		}
	}
	slices.SortFunc(old, func(a, b seen) int { return cmp.Compare(a.last, b.last) })
	for _, o := range old[:min(atOnce, len(old))] {
		s.evict(o.d)
	}
	return len(s.kept) < MostDigests
}

// last returns when the digest was last seen, in nanoseconds since Epoch. For a digest that never ran, it is the time when Find
// added it.
func (d *Digest) last() int64 {
	last := int64(d.first.Sub(Epoch))
	for i := range d.parts {
		if t := d.parts[i].Load(); t != nil {
			last = max(last, t.last.Load())
		}
	}
	return last
}

// evict removes a digest and adds its figures to others.
func (s *Statements) evict(d *Digest) {
	if s.others == nil {
		s.others = new(tally)
	}
	s.drop(d, func(t *tally) { s.others.merge(t) })
	delete(s.kept, d.key)
}

// drop removes a digest's figures, and calls with for each part.
func (s *Statements) drop(d *Digest, with func(*tally)) {
	d.gone.Store(true)
	d.past = nil
	d.timed.Store(false)
	if d.often.Swap(false) {
		s.often--
	}
	for i := range d.parts {
		if t := d.parts[i].Swap(nil); t != nil {
			with(t)
		}
	}
}

// Forget discards all figures.
func (s *Statements) Forget(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.kept {
		s.drop(d, func(*tally) {})
	}
	clear(s.kept)
	s.others, s.since, s.turned, s.weight = nil, now, now, 0
}

// Turn adds the counts since the last Turn to the rates. The caller calls it regularly, more often than [Fading].
func (s *Statements) Turn(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turned.IsZero() {
		s.turned, s.since, s.recorded = now, now, now.Truncate(minute)
		return
	}
	seconds := now.Sub(s.turned).Seconds()
	if seconds < 0.1 {
		return
	}
	s.turned = now
	old := math.Exp(-seconds / Fading.Seconds())
	s.weight = s.weight*old + 1 - old
	for _, d := range s.kept {
		count, spent := d.sums()
		rate := float64(count-d.counted) / seconds
		d.rate = d.rate*old + rate*(1-old)
		d.load = d.load*old + float64(spent-d.spent)/1e9/seconds*(1-old)
		d.counted, d.spent = count, spent
		if rate >= oftenFrom && s.often < mostOften && !d.often.Swap(true) {
			s.often++
		}
	}
	if at := now.Truncate(minute); !at.Equal(s.recorded) {
		s.recorded = at
		s.record(now)
	}
}

func (d *Digest) sums() (count, spent uint64) {
	for i := range d.parts {
		if t := d.parts[i].Load(); t != nil {
			count += t.ran.Load()
			spent += t.sum.Load()
		}
	}
	return count, spent
}

// Kept returns the number of digests with figures of their own.
func (s *Statements) Kept() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.kept)
}
