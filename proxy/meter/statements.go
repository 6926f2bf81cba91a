package meter

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Epoch is what moments of this process are counted from.
var Epoch = time.Now()

// MostDigests is how many digests one proxy keeps the figures of: a KB or two each.
const MostDigests = 4000

const (
	// quiet is for how long a digest must not have been seen to make room for another.
	quiet = time.Minute
	// atOnce is how many make room at once, and sweepEvery how often is looked for them.
	atOnce     = MostDigests / 16
	sweepEvery = time.Second
	// A digest that is seen more often than oftenFrom in a second has a part of its
	// counts for each lane, if it is one of the first mostOften.
	oftenFrom = 50.0
	mostOften = 64
)

// Statements keeps what the statements of each digest have cost. The zero value is
// ready; safe for concurrent use.
//
// It is bounded: when MostDigests are kept, one that was not seen for a minute makes
// room, and its figures go to those of all others together; while there is none, new
// digests are counted there. So no statement is missing from the sum.
type Statements struct {
	mu     sync.Mutex // of what follows, never held across a wait; who counts takes none
	kept   map[statementKey]*Digest
	others *tally // of digests without figures of their own
	swept  time.Time
	often  int
	since  time.Time // the last Forget
	turned time.Time
	weight float64 // of all that has faded into rates; 1 after a long time
}

type statementKey struct {
	database string
	hash     uint64
}

// Digest is the figures of one. Plans have it, so that who runs one looks for nothing.
type Digest struct {
	key  statementKey
	text string
	kind Kind

	gone  atomic.Bool // it has made room: what it counts now, it counts after coming back
	often atomic.Bool // it has parts for all lanes
	parts [lanes]atomic.Pointer[tally]

	// Of the Statements' lock.
	first          time.Time
	counted, spent uint64  // at the last turn
	rate, load     float64 // per second; seconds per second
}

// of is the part of a lane; of a digest that is rare all share one.
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
		return t
	}
	return new(tally) // it was forgotten this moment
}

// Find gives the digest of that hash, whose text is asked for if it is new; nil: there is
// no room.
func (s *Statements) Find(database string, hash uint64, k Kind, text func() string) *Digest {
	key := statementKey{database, hash}
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.kept[key]; d != nil {
		return d
	}
	if !s.room() {
		return nil
	}
	d := &Digest{key: key, text: text(), kind: k}
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

// add counts a statement; d is what Find gave.
func (s *Statements) add(d *Digest, r *Run, cell int) {
	if d != nil && d.gone.Load() {
		d = s.again(d)
	}
	if d == nil {
		s.rest().add(r, cell)
		return
	}
	d.of(r.Lane).add(r, cell)
}

// again keeps a digest that has made room, and is seen once more.
func (s *Statements) again(d *Digest) *Digest {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch other := s.kept[d.key]; {
	case other != nil: // it may be itself by now
		return other
	case !s.room():
		return nil
	}
	d.counted, d.spent, d.rate, d.load = 0, 0, 0, 0
	s.keep(d)
	d.gone.Store(false)
	return d
}

func (s *Statements) rest() *tally {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.others == nil {
		s.others = new(tally)
	}
	return s.others
}

// room makes room for a digest, if it can.
func (s *Statements) room() bool {
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
		s.leave(o.d)
	}
	return len(s.kept) < MostDigests
}

// last is when the digest was seen, since Epoch; as it was found, if it never ran.
func (d *Digest) last() int64 {
	last := int64(d.first.Sub(Epoch))
	for i := range d.parts {
		if t := d.parts[i].Load(); t != nil {
			last = max(last, t.last.Load())
		}
	}
	return last
}

// leave adds a digest to the others.
func (s *Statements) leave(d *Digest) {
	if s.others == nil {
		s.others = new(tally)
	}
	s.drop(d, func(t *tally) { s.others.merge(t) })
	delete(s.kept, d.key)
}

// drop takes a digest's figures away.
func (s *Statements) drop(d *Digest, with func(*tally)) {
	d.gone.Store(true)
	if d.often.Swap(false) {
		s.often--
	}
	for i := range d.parts {
		if t := d.parts[i].Swap(nil); t != nil {
			with(t)
		}
	}
}

// Forget begins anew.
func (s *Statements) Forget(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.kept {
		s.drop(d, func(*tally) {})
	}
	clear(s.kept)
	s.others, s.since, s.turned, s.weight = nil, now, now, 0
}

// Turn takes what was counted since the last turn into the rates. It is to be called
// now and then, more often than [Fading].
func (s *Statements) Turn(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turned.IsZero() {
		s.turned, s.since = now, now
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

// Kept is how many digests have figures of their own.
func (s *Statements) Kept() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.kept)
}
