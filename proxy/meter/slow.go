package meter

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Slow records slow statements by digest. With the zero value no statement is slow. It is safe for concurrent use.
type Slow struct {
	after    atomic.Int64 // nanoseconds
	seen     atomic.Uint64
	unlogged atomic.Uint64

	mu      sync.Mutex // guards the fields below; held no longer than one scan of all digests
	digests map[digestKey]*SlowDigest
	lines   float64 // lines that may be logged now
	filled  time.Time
	skipped uint64 // since the last line
}

type digestKey struct{ database, hash string }

// Limits of the entries that are kept and logged.
const (
	MostSlow     = 200 // digests
	linesSecond  = 10.0
	linesAtOnce  = 50.0
	mostReported = 100
)

// SetAfter sets the time from which a statement is slow. 0 means never.
func (s *Slow) SetAfter(d time.Duration) { s.after.Store(int64(d)) }

// After returns that time.
func (s *Slow) After() time.Duration { return time.Duration(s.after.Load()) }

// Seen returns the number of slow statements; Unlogged returns how many of them were not logged.
func (s *Slow) Seen() uint64     { return s.seen.Load() }
func (s *Slow) Unlogged() uint64 { return s.unlogged.Load() }

// Took is one slow statement. Its text has no literals.
type Took struct {
	Hash, Text     string
	Database, User string
	Route, Shards  string
	// All is the total time. Waited is the part that was spent waiting for connections. Held is the part during which the statement
	// was paused while genes changed hands.
	All, Waited, Held time.Duration
	Rows              uint64
	Failed            bool
	Ended             time.Time
}

// SlowDigest sums up the slow statements of a digest since the proxy started or last forgot it.
type SlowDigest struct {
	Hash     string `json:"digest"`
	Text     string `json:"statement"`
	Database string `json:"database,omitempty"`
	Count    uint64 `json:"count"`
	Failed   uint64 `json:"failed"`
	Rows     uint64 `json:"rows"`
	// Milliseconds in total, except for the slowest.
	AllMs     float64 `json:"all_ms"`
	SlowestMs float64 `json:"slowest_ms"`
	WaitedMs  float64 `json:"waited_ms"`
	HeldMs    float64 `json:"held_ms"`
	// Properties of the slowest statement.
	User   string    `json:"user"`
	Route  string    `json:"route"`
	Shards string    `json:"shards,omitempty"`
	Last   time.Time `json:"last"`
}

// Add records a slow statement. log reports whether to log it, together with skipped, the number of statements not
// logged since the last line.
func (s *Slow) Add(t Took) (log bool, skipped uint64) {
	s.seen.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.digest(t).add(t)
	if !s.mayLog(t.Ended) {
		s.unlogged.Add(1)
		s.skipped++
		return false, 0
	}
	skipped, s.skipped = s.skipped, 0
	return true, skipped
}

// mayLog takes a line from the budget if there is one.
func (s *Slow) mayLog(now time.Time) bool {
	if s.filled.IsZero() {
		s.lines = linesAtOnce
	} else if since := now.Sub(s.filled).Seconds(); since > 0 {
		s.lines = min(linesAtOnce, s.lines+since*linesSecond)
	}
	s.filled = now
	if s.lines < 1 {
		return false
	}
	s.lines--
	return true
}

// digest finds the statement's digest, or adds it. If the limit is reached, it replaces the digest that has cost least.
func (s *Slow) digest(t Took) *SlowDigest {
	key := digestKey{t.Database, t.Hash}
	if d := s.digests[key]; d != nil {
		return d
	}
	if s.digests == nil {
		s.digests = map[digestKey]*SlowDigest{}
	}
	if len(s.digests) >= MostSlow {
		var least digestKey
		for k, d := range s.digests {
			if l := s.digests[least]; l == nil || d.AllMs < l.AllMs {
				least = k
			}
		}
		delete(s.digests, least)
	}
	d := &SlowDigest{Hash: t.Hash, Text: t.Text, Database: t.Database}
	s.digests[key] = d
	return d
}

func (d *SlowDigest) add(t Took) {
	d.Count++
	if t.Failed {
		d.Failed++
	}
	d.Rows += t.Rows
	d.AllMs += milliseconds(t.All)
	d.WaitedMs += milliseconds(t.Waited)
	d.HeldMs += milliseconds(t.Held)
	d.Last = t.Ended
	if ms := milliseconds(t.All); ms > d.SlowestMs {
		d.SlowestMs, d.User, d.Route, d.Shards = ms, t.User, t.Route, t.Shards
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Digests returns the digests by cost, highest first.
func (s *Slow) Digests() []SlowDigest {
	s.mu.Lock()
	list := make([]SlowDigest, 0, len(s.digests))
	for _, d := range s.digests {
		list = append(list, *d)
	}
	s.mu.Unlock()
	SortSlow(list)
	return list[:min(mostReported, len(list))]
}

// SortSlow sorts by cost, highest first.
func SortSlow(list []SlowDigest) {
	slices.SortFunc(list, func(a, b SlowDigest) int {
		return cmp.Or(cmp.Compare(b.AllMs, a.AllMs), cmp.Compare(a.Hash, b.Hash), cmp.Compare(a.Database, b.Database))
	})
}
