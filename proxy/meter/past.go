package meter

import (
	"cmp"
	"slices"
	"time"
)

// The past of a digest has a point for each minute of the last hour and one for each quarter of an hour of the last day. The digests
// that cost most have one. All points of a proxy take about 15 MB with 8 shards, and 120 MB at most, with 64.
const (
	minute, quarter         = time.Minute, 15 * time.Minute
	keptMinutes, keptQuarts = 60, 96
	mostPasts               = 200
	mostNewPasts            = 100
)

// Point contains the figures of a digest in one period.
type Point struct {
	At      time.Time `json:"at"` // its beginning
	Count   uint64    `json:"count"`
	Failed  uint64    `json:"errors,omitempty"`
	TotalMs float64   `json:"total_ms"`
	Times   []Times   `json:"times,omitempty"`
	Shards  []Part    `json:"shards,omitempty"`
}

func (p *Point) add(q Point) {
	p.Count += q.Count
	p.Failed += q.Failed
	p.TotalMs += q.TotalMs
	p.Times, p.Shards = AddTimes(p.Times, q.Times), AddParts(p.Shards, q.Shards)
}

// past contains the points of a digest. The lock of Statements guards it.
type past struct {
	before            sums      // at the last minute
	opened            sums      // the sums at the beginning of the last quarter
	quarter           time.Time // the last quarter
	minutes, quarters []Point
}

// sums contains the counts of a digest since its creation.
type sums struct {
	spread Distribution
	failed uint64
	shards []timedPart
}

func (d *Digest) total() sums {
	var s sums
	for i := range d.parts {
		if t := d.parts[i].Load(); t != nil {
			s.spread.take(&t.cells)
			s.failed += t.failed.Load()
			s.shards = t.shards.addTimed(s.shards)
		}
	}
	return s
}

// since returns the point with the counts since before.
func (s *sums) since(before *sums, at time.Time) Point {
	var spread Distribution
	for i, n := range s.spread.counts {
		spread.counts[i] = n - min(n, before.spread.counts[i])
		spread.Count += spread.counts[i]
	}
	return Point{
		At: at, Count: spread.Count, Failed: s.failed - min(s.failed, before.failed),
		TotalMs: milliseconds(max(0, s.spread.Sum-before.spread.Sum)), Times: spread.Times(), Shards: sinceParts(s.shards, before.shards),
	}
}

// record adds a point to the past of each digest that has one. It is called with the lock, once a minute.
func (s *Statements) record(now time.Time) {
	s.choose(now)
	at := now.Add(-minute).Truncate(minute).UTC()
	for _, d := range s.kept {
		if d.past == nil {
			continue
		}
		total, of := d.total(), at.Truncate(quarter)
		if !d.past.quarter.Equal(of) {
			d.past.quarter, d.past.opened = of, d.past.before
		}
		if p := total.since(&d.past.before, at); p.Count > 0 {
			d.past.minutes = appended(d.past.minutes, p, keptMinutes)
			d.past.quarters = appended(d.past.quarters, total.since(&d.past.opened, of), keptQuarts)
		}
		d.past.before = total
	}
}

// appended adds a point to those of a period. If the last point is of the same period, it is replaced.
func appended(points []Point, p Point, most int) []Point {
	if n := len(points); n > 0 && points[n-1].At.Equal(p.At) {
		points[n-1] = p
		return points
	}
	if len(points) >= most {
		points = slices.Delete(points, 0, len(points)+1-most)
	}
	return append(points, p)
}

// choose gives the digests with the highest load a past. If there are too many, those with the oldest points lose theirs.
func (s *Statements) choose(now time.Time) {
	var list, known []*Digest
	for _, d := range s.kept {
		if d.past != nil {
			known = append(known, d)
		} else if d.load > 0 {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b *Digest) int { return cmp.Compare(b.load, a.load) })
	list = list[:min(mostNewPasts, len(list))]
	for _, d := range list {
		d.past = new(past)
		d.time(true)
		if d.first.Before(now.Add(-minute)) {
			d.past.before = d.total() // earlier counts belong to no point
		}
	}
	if over := len(known) + len(list) - mostPasts; over > 0 {
		slices.SortFunc(known, func(a, b *Digest) int { return a.past.latest().Compare(b.past.latest()) })
		for _, d := range known[:min(over, len(known))] {
			d.past = nil
			d.time(false)
		}
	}
}

// time begins or ends to count the times of each shard.
func (d *Digest) time(on bool) {
	d.timed.Store(on)
	for i := range d.parts {
		if t := d.parts[i].Load(); t != nil {
			t.shards.time(on)
		}
	}
}

func (p *past) latest() time.Time {
	if len(p.minutes) == 0 {
		return time.Time{}
	}
	return p.minutes[len(p.minutes)-1].At
}

// Details contains all figures of one digest.
type Details struct {
	Figures
	Shards []Part `json:"shards,omitempty"`
	Users  []Part `json:"users,omitempty"`
	Codes  []Part `json:"codes,omitempty"` // errors by MySQL's code
	// Minutes and Quarters are its past, oldest first. Periods without a statement are left out.
	Minutes  []Point `json:"minutes,omitempty"`
	Quarters []Point `json:"quarters,omitempty"`
	// Recorded is true if the proxy records the past of this digest.
	Recorded bool `json:"recorded"`
}

// Details returns the figures of a digest. It returns false if the proxy has none.
func (s *Statements) Details(database, hash string, now time.Time) (Details, bool) {
	s.Turn(now)
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, d := range s.kept {
		if key.database != database || hashText(key.hash) != hash {
			continue
		}
		c := s.figuresOf(d, now)
		details := Details{Figures: c.Figures, Recorded: d.past != nil}
		details.Times = c.spread.Times()
		for i := range d.parts {
			if t := d.parts[i].Load(); t != nil {
				details.Shards = AddParts(details.Shards, t.shards.parts())
				details.Users = AddParts(details.Users, t.users.parts())
				details.Codes = AddParts(details.Codes, t.codes.parts())
			}
		}
		if d.past != nil {
			details.Minutes, details.Quarters = slices.Clone(d.past.minutes), slices.Clone(d.past.quarters) // the last points may still change
		}
		return details, c.Count > 0
	}
	return Details{}, false
}

// Add adds the figures of another proxy.
func (d *Details) Add(e Details) {
	if d.Text == "" {
		d.Hash, d.Text, d.Database, d.Kind, d.Tables = e.Hash, e.Text, e.Database, e.Kind, e.Tables
	}
	d.Figures.Add(e.Figures)
	d.Shards, d.Users, d.Codes = AddParts(d.Shards, e.Shards), AddParts(d.Users, e.Users), AddParts(d.Codes, e.Codes)
	d.Minutes, d.Quarters = addPoints(d.Minutes, e.Minutes), addPoints(d.Quarters, e.Quarters)
	d.Recorded = d.Recorded || e.Recorded
}

// addPoints adds two lists that are sorted by time.
func addPoints(a, b []Point) []Point {
	sum := slices.Clone(a)
	for _, p := range b {
		i, found := slices.BinarySearchFunc(sum, p.At, func(q Point, at time.Time) int { return q.At.Compare(at) })
		if found {
			sum[i].add(p)
			continue
		}
		sum = slices.Insert(sum, i, p)
	}
	return sum
}
