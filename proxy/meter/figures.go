package meter

import (
	"cmp"
	"slices"
	"strconv"
	"time"
)

// Figures contains the figures of one digest, or the sums over several.
type Figures struct {
	Hash     string `json:"digest,omitempty"`
	Text     string `json:"statement"`
	Database string `json:"database,omitempty"`
	Kind     string `json:"kind,omitempty"`
	Count    uint64 `json:"count"`
	Failed   uint64 `json:"errors"`
	Rows     uint64 `json:"rows"`
	Several  uint64 `json:"several_shards"`
	// Sent is the number of shards that the statements on several shards were sent to. Gathered is how many of these statements
	// had their rows gathered on one shard.
	Sent     uint64 `json:"sent,omitempty"`
	Gathered uint64 `json:"gathered,omitempty"`
	// Copied is the number of rows that were gathered. Keyed is the number of those that were read by the keys of other rows.
	Copied uint64 `json:"rows_gathered,omitempty"`
	Keyed  uint64 `json:"rows_by_key,omitempty"`
	// Tables are the tables that the statement names, as it writes them.
	Tables []string `json:"tables,omitempty"`
	// LastCode is MySQL's code of the last error.
	LastCode uint32 `json:"last_error,omitempty"`
	// Milliseconds in total, except for the slowest.
	TotalMs   float64 `json:"total_ms"`
	SlowestMs float64 `json:"slowest_ms"`
	WaitedMs  float64 `json:"waited_ms"`
	HeldMs    float64 `json:"held_ms"`
	Times     []Times `json:"times,omitempty"`
	// PerSecond and Load cover the last minutes: statements per second, and the average number running at once.
	PerSecond float64   `json:"per_second"`
	Load      float64   `json:"load"`
	First     time.Time `json:"first_seen,omitzero"`
	Last      time.Time `json:"last_seen,omitzero"`
}

// Others is the text under which several digests are counted together.
const Others = "(others)"

// Report contains a proxy's figures of its statements.
type Report struct {
	Digests []Figures `json:"digests"`
	// Others sums up all digests not listed.
	Others Figures `json:"others"`
	// Kept is the number of digests that have figures. Most is the limit.
	Kept  int       `json:"kept"`
	Most  int       `json:"most"`
	Since time.Time `json:"since"` // when counting began
	At    time.Time `json:"at"`
}

// Report returns the digests that have cost most in total and those that cost most now, up to most of each kind. Texts are cut to
// the given number of letters.
func (s *Statements) Report(now time.Time, most, letters int) Report {
	s.Turn(now)
	r := Report{At: now, Most: MostDigests, Others: Figures{Text: Others}}
	all := s.figures(&r)
	listed := map[int]bool{}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	for _, by := range []func(Figures) float64{func(f Figures) float64 { return f.TotalMs }, func(f Figures) float64 { return f.Load }} {
		slices.SortFunc(order, func(a, b int) int {
			return cmp.Or(cmp.Compare(by(all[b].Figures), by(all[a].Figures)), cmp.Compare(a, b))
		})
		for _, i := range order[:min(most, len(order))] {
			listed[i] = listed[i] || by(all[i].Figures) > 0
		}
	}
	for i := range all {
		f := &all[i].Figures
		if f.Count == 0 {
			continue // planned but not run yet
		}
		f.Times = all[i].spread.Times()
		if !listed[i] {
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

// counted is Figures with the distribution of times.
type counted struct {
	Figures
	spread Distribution
}

func (s *Statements) figures(r *Report) []counted {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]counted, 0, len(s.kept))
	for _, d := range s.kept {
		all = append(all, s.figuresOf(d, r.At))
	}
	rest := counted{}
	rest.take(s.others, r.At)
	rest.Times = rest.spread.Times()
	r.Others.Add(rest.Figures)
	r.Kept, r.Since = len(s.kept), s.since.UTC()
	return all
}

// figuresOf returns the figures of a digest. It is called with the lock.
func (s *Statements) figuresOf(d *Digest, now time.Time) counted {
	c := counted{Figures: Figures{
		Hash: hashText(d.key.hash), Text: d.text, Database: d.key.database, Kind: d.kind.String(), Tables: d.tables, First: d.first.UTC(),
	}}
	for i := range d.parts {
		c.take(d.parts[i].Load(), now)
	}
	if c.Last.Before(c.First) { // the entry was found before it ran
		c.First = c.Last
	}
	if s.weight > 0 {
		c.PerSecond, c.Load = rounded(d.rate/s.weight), rounded(d.load/s.weight)
	}
	return c
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
	c.Sent += t.sent.Load()
	c.Gathered += t.gathered.Load()
	c.Copied += t.copied.Load()
	c.Keyed += t.keyed.Load()
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

// Add adds the figures of other statements.
func (f *Figures) Add(g Figures) {
	f.Count += g.Count
	f.Failed += g.Failed
	f.Rows += g.Rows
	f.Several += g.Several
	f.Sent += g.Sent
	f.Gathered += g.Gathered
	f.Copied += g.Copied
	f.Keyed += g.Keyed
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

// SumReports adds up the reports of several proxies.
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
				sum.Digests = append(sum.Digests, Figures{Hash: f.Hash, Text: f.Text, Database: f.Database, Kind: f.Kind, Tables: f.Tables})
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

// SortFigures sorts by total cost, highest first.
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
