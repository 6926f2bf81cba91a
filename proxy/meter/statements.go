package meter

import (
	"cmp"
	"math"
	"slices"
	"strconv"
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

// tally is what is added up.
type tally struct {
	cells
	ran, failed, rows, several atomic.Uint64
	waited, held               atomic.Uint64 // nanoseconds
	slowest                    atomic.Int64  // nanoseconds
	last                       atomic.Int64  // since Epoch
	code                       atomic.Uint32 // of the last error
}

// Run is a statement that has ended.
type Run struct {
	Lane  uint32 // the session's, always the same
	Kind  Kind
	Shard string // or NoShard, SeveralShards
	// Took is from its command's arrival to the end of its answer; of that it waited for
	// connections, and was held while genes changed hands.
	Took, Waited, Held time.Duration
	Rows               uint64
	Failed             bool
	Code               uint16        // MySQL's number of its error; 0: none was told
	At                 time.Duration // its end, since Epoch
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
	}
	if r.Failed {
		t.failed.Add(1)
		if r.Code != 0 {
			t.code.Store(uint32(r.Code))
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

func (t *tally) merge(from *tally) {
	for cell, n := range from.all {
		t.count(cell, n)
	}
	t.sum.Add(from.sum.Load())
	t.ran.Add(from.ran.Load())
	t.failed.Add(from.failed.Load())
	t.rows.Add(from.rows.Load())
	t.several.Add(from.several.Load())
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

// Figures are those of one digest, or of several together.
type Figures struct {
	Hash     string `json:"digest,omitempty"`
	Text     string `json:"statement"`
	Database string `json:"database,omitempty"`
	Kind     string `json:"kind,omitempty"`
	Count    uint64 `json:"count"`
	Failed   uint64 `json:"errors"`
	Rows     uint64 `json:"rows"`
	Several  uint64 `json:"several_shards"`
	// LastCode is MySQL's number of the last error.
	LastCode uint32 `json:"last_error,omitempty"`
	// Milliseconds, of all together but for the slowest.
	TotalMs   float64 `json:"total_ms"`
	SlowestMs float64 `json:"slowest_ms"`
	WaitedMs  float64 `json:"waited_ms"`
	HeldMs    float64 `json:"held_ms"`
	Times     []Times `json:"times,omitempty"`
	// PerSecond and Load are of the last minutes: statements in a second, and how many
	// of them were under way at once on the average.
	PerSecond float64   `json:"per_second"`
	Load      float64   `json:"load"`
	First     time.Time `json:"first_seen,omitzero"`
	Last      time.Time `json:"last_seen,omitzero"`
}

// Others is the text of what stands for several digests together.
const Others = "(others)"

// Report is what a proxy tells of its statements.
type Report struct {
	Digests []Figures `json:"digests"`
	// Others are all that are not among them.
	Others Figures `json:"others"`
	// Kept is how many digests have figures, and Most how many may.
	Kept  int       `json:"kept"`
	Most  int       `json:"most"`
	Since time.Time `json:"since"` // what is counted
	At    time.Time `json:"at"`
}

// Report tells the digests that have cost most, and those that cost most now: so many
// of each at most, and the first letters of their texts.
func (s *Statements) Report(now time.Time, most, letters int) Report {
	s.Turn(now)
	r := Report{At: now, Most: MostDigests, Others: Figures{Text: Others}}
	all := s.figures(&r)
	told := map[int]bool{}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	for _, by := range []func(Figures) float64{func(f Figures) float64 { return f.TotalMs }, func(f Figures) float64 { return f.Load }} {
		slices.SortFunc(order, func(a, b int) int {
			return cmp.Or(cmp.Compare(by(all[b].Figures), by(all[a].Figures)), cmp.Compare(a, b))
		})
		for _, i := range order[:min(most, len(order))] {
			told[i] = told[i] || by(all[i].Figures) > 0
		}
	}
	for i := range all {
		f := &all[i].Figures
		if f.Count == 0 {
			continue // planned, and not run yet
		}
		f.Times = all[i].spread.Times()
		if !told[i] {
			r.Others.Add(*f)
			continue
		}
		f.Text = shortened(f.Text, letters)
		r.Digests = append(r.Digests, *f)
	}
	r.Others.Text = Others
	SortFigures(r.Digests)
	return r
}

// counted are figures with their times.
type counted struct {
	Figures
	spread Distribution
}

func (s *Statements) figures(r *Report) []counted {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]counted, 0, len(s.kept))
	for _, d := range s.kept {
		c := counted{Figures: Figures{
			Hash: hashText(d.key.hash), Text: d.text, Database: d.key.database, Kind: d.kind.String(), First: d.first.UTC(),
		}}
		for i := range d.parts {
			c.take(d.parts[i].Load(), r.At)
		}
		if c.Last.Before(c.First) { // it is found when it has ended
			c.First = c.Last
		}
		if s.weight > 0 {
			c.PerSecond, c.Load = rounded(d.rate/s.weight), rounded(d.load/s.weight)
		}
		all = append(all, c)
	}
	rest := counted{}
	rest.take(s.others, r.At)
	rest.Times = rest.spread.Times()
	r.Others.Add(rest.Figures)
	r.Kept, r.Since = len(s.kept), s.since.UTC()
	return all
}

func (c *counted) take(t *tally, now time.Time) {
	if t == nil {
		return
	}
	c.spread.take(&t.cells)
	c.Count += t.ran.Load()
	c.Failed += t.failed.Load()
	c.Rows += t.rows.Load()
	c.Several += t.several.Load()
	c.TotalMs = float64(c.spread.Sum.Microseconds()) / 1000
	c.SlowestMs = max(c.SlowestMs, milliseconds(time.Duration(t.slowest.Load())))
	c.WaitedMs += milliseconds(time.Duration(t.waited.Load()))
	c.HeldMs += milliseconds(time.Duration(t.held.Load()))
	if at := now.Add(time.Duration(t.last.Load()) - now.Sub(Epoch)).UTC(); t.ran.Load() > 0 && at.After(c.Last) {
		c.Last = at
		c.LastCode = cmp.Or(t.code.Load(), c.LastCode)
	} else {
		c.LastCode = cmp.Or(c.LastCode, t.code.Load())
	}
}

// Add adds those of other statements.
func (f *Figures) Add(g Figures) {
	f.Count += g.Count
	f.Failed += g.Failed
	f.Rows += g.Rows
	f.Several += g.Several
	f.TotalMs += g.TotalMs
	f.SlowestMs = max(f.SlowestMs, g.SlowestMs)
	f.WaitedMs += g.WaitedMs
	f.HeldMs += g.HeldMs
	f.PerSecond += g.PerSecond
	f.Load += g.Load
	f.Times = AddTimes(f.Times, g.Times)
	if !g.First.IsZero() && (f.First.IsZero() || g.First.Before(f.First)) {
		f.First = g.First
	}
	if g.Last.After(f.Last) {
		f.Last = g.Last
		f.LastCode = cmp.Or(g.LastCode, f.LastCode)
	} else {
		f.LastCode = cmp.Or(f.LastCode, g.LastCode)
	}
}

// SumReports adds up what proxies tell.
func SumReports(reports ...Report) Report {
	sum := Report{Others: Figures{Text: Others}}
	type key struct{ database, hash string }
	at := map[key]int{}
	for _, r := range reports {
		for _, f := range r.Digests {
			i, known := at[key{f.Database, f.Hash}]
			if !known {
				i = len(sum.Digests)
				at[key{f.Database, f.Hash}] = i
				sum.Digests = append(sum.Digests, Figures{Hash: f.Hash, Text: f.Text, Database: f.Database, Kind: f.Kind})
			}
			sum.Digests[i].Add(f)
		}
		sum.Others.Add(r.Others)
		sum.Kept, sum.Most = max(sum.Kept, r.Kept), max(sum.Most, r.Most)
		if sum.Since.IsZero() || r.Since.Before(sum.Since) {
			sum.Since = r.Since
		}
		if r.At.After(sum.At) {
			sum.At = r.At
		}
	}
	SortFigures(sum.Digests)
	return sum
}

// SortFigures puts those first that have cost most.
func SortFigures(list []Figures) {
	slices.SortFunc(list, func(a, b Figures) int {
		return cmp.Or(cmp.Compare(b.TotalMs, a.TotalMs), cmp.Compare(a.Hash, b.Hash), cmp.Compare(a.Database, b.Database))
	})
}

func hashText(hash uint64) string {
	text := strconv.FormatUint(hash, 16)
	return "0000000000000000"[len(text):] + text
}

func shortened(text string, letters int) string {
	if runes := []rune(text); len(runes) > letters {
		return string(runes[:letters]) + "…"
	}
	return text
}
