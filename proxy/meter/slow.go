package meter

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Slow keeps which statements take long, by their digests. The zero value calls
// none slow; safe for concurrent use.
type Slow struct {
	after    atomic.Int64 // nanoseconds
	seen     atomic.Uint64
	unlogged atomic.Uint64

	mu      sync.Mutex // of what follows; held for no longer than a look at all digests
	digests map[digestKey]*SlowDigest
	lines   float64 // that may be logged
	filled  time.Time
	skipped uint64 // since the last line
}

type digestKey struct{ database, hash string }

// Bounds of what is kept and of what is logged.
const (
	MostSlow     = 200 // digests
	linesSecond  = 10.0
	linesAtOnce  = 50.0
	mostReported = 100
)

// SetAfter says from how long on a statement is slow; 0: never.
func (s *Slow) SetAfter(d time.Duration) { s.after.Store(int64(d)) }

// After is what SetAfter said.
func (s *Slow) After() time.Duration { return time.Duration(s.after.Load()) }

// Seen is how many statements were slow; Unlogged, of how many there is no line in
// the log.
func (s *Slow) Seen() uint64     { return s.seen.Load() }
func (s *Slow) Unlogged() uint64 { return s.unlogged.Load() }

// Took is one statement that was slow. Its text is without literals.
type Took struct {
	Hash, Text     string
	Database, User string
	Route, Shards  string
	// All is how long it took; of that it waited for connections and was held
	// while genes changed hands.
	All, Waited, Held time.Duration
	Rows              uint64
	Failed            bool
	Ended             time.Time
}

// SlowDigest is what the slow statements of a digest have in common, since the
// proxy began or last forgot it.
type SlowDigest struct {
	Hash     string `json:"digest"`
	Text     string `json:"statement"`
	Database string `json:"database,omitempty"`
	Count    uint64 `json:"count"`
	Failed   uint64 `json:"failed"`
	Rows     uint64 `json:"rows"`
	// Milliseconds, of all together but for the slowest.
	AllMs     float64 `json:"all_ms"`
	SlowestMs float64 `json:"slowest_ms"`
	WaitedMs  float64 `json:"waited_ms"`
	HeldMs    float64 `json:"held_ms"`
	// Of the slowest.
	User   string    `json:"user"`
	Route  string    `json:"route"`
	Shards string    `json:"shards,omitempty"`
	Last   time.Time `json:"last"`
}

// Add keeps a statement that was slow. With log it is to be logged, and so is how
// many were not since the last one that was.
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

// mayLog takes a line, if there is one.
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

// digest finds the statement's, in place of the one that has cost least if there
// are as many as may be.
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

// Digests are those that have cost most, the dearest first.
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

// SortSlow puts those first that have cost most.
func SortSlow(list []SlowDigest) {
	slices.SortFunc(list, func(a, b SlowDigest) int {
		return cmp.Or(cmp.Compare(b.AllMs, a.AllMs), cmp.Compare(a.Hash, b.Hash), cmp.Compare(a.Database, b.Database))
	})
}
