package mirror

import (
	"slices"
	"strings"
	"time"

	"locus/idgen/gene"
	"locus/proxy/meter"
	"locus/router"
	"locus/router/stmt"
)

// Counts counts reads since a job's mirroring began.
type Counts struct {
	Sampled   uint64 `json:"sampled"`   // chosen for mirroring
	Dropped   uint64 `json:"dropped"`   // because the queue was full
	TooLong   uint64 `json:"too_long"`  // too long to copy or compare
	Unsent    uint64 `json:"unsent"`    // because the target was down or the genes had been handed over
	Compared  uint64 `json:"compared"`  // answered by the target
	Late      uint64 `json:"late"`      // no answer within the deadline
	Failed    uint64 `json:"failed"`    // no answer because the connection or the server failed
	Lag       uint64 `json:"lag"`       // differed until the target had applied the source's changes
	Different uint64 `json:"different"` // differed otherwise
	Unsettled uint64 `json:"unsettled"` // differed, without a verdict
	Reordered uint64 `json:"reordered"` // had rows in another order, although one was requested
}

// Plus returns the sum of two Counts.
func (c Counts) Plus(o Counts) Counts {
	return Counts{
		c.Sampled + o.Sampled, c.Dropped + o.Dropped, c.TooLong + o.TooLong, c.Unsent + o.Unsent, c.Compared + o.Compared,
		c.Late + o.Late, c.Failed + o.Failed, c.Lag + o.Lag, c.Different + o.Different, c.Unsettled + o.Unsettled, c.Reordered + o.Reordered,
	}
}

// Each calls yield with each outcome of a sampled read and its count.
func (c Counts) Each(yield func(outcome string, n uint64)) {
	yield("dropped", c.Dropped)
	yield("too_long", c.TooLong)
	yield("unsent", c.Unsent)
	yield("compared", c.Compared)
	yield("late", c.Late)
	yield("failed", c.Failed)
	yield("lag", c.Lag)
	yield("different", c.Different)
	yield("unsettled", c.Unsettled)
	yield("reordered", c.Reordered)
}

// Report is a proxy's report of one job.
type Report struct {
	Counts
	Percent int              `json:"percent"`
	From    router.ShardName `json:"from"`
	To      router.ShardName `json:"to"`
	// Looking is the number of reads that are being checked again.
	Looking int `json:"looking"`
	// Away is the reason why nothing is sent to the target, or empty. AwaySince is the time from which it applies.
	Away      string    `json:"away,omitempty"`
	AwaySince time.Time `json:"away_since,omitzero"`
	// Source and Target are the times of the same reads on both shards.
	Source      meter.Tally  `json:"source"`
	Target      meter.Tally  `json:"target"`
	Differences []Difference `json:"differences,omitempty"` // the latest ones, newest first
}

// Difference is a read that source and target answered differently. It has no literals, since those may be secrets.
type Difference struct {
	Job        string    `json:"job"`
	Digest     string    `json:"digest"`
	Statement  string    `json:"statement"`
	Database   string    `json:"database,omitempty"`
	Gene       string    `json:"gene"` // the first gene that it concerns
	SourceRows uint64    `json:"source_rows"`
	TargetRows uint64    `json:"target_rows"`
	SourceHash string    `json:"source_hash"`
	TargetHash string    `json:"target_hash"`
	Code       uint16    `json:"code,omitempty"` // the target's error code, or 0
	Times      uint64    `json:"times"`          // number of mirrored reads that had it
	At         time.Time `json:"at"`             // last found
}

// mostKept is the greatest number of differences that are kept for a job.
const mostKept = 50

// digestText is the longest statement text in bytes that is kept.
const digestText = 500

func differenceOf(d *doubt, times uint64, w gene.Width, now time.Time) Difference {
	r := d.read
	var lexed stmt.Lexed
	lexed.Lex(r.Text, r.Mode)
	digest := lexed.Digest(digestText)
	return Difference{
		Job: r.Job, Digest: digest.Hash, Statement: digest.Text, Database: r.Settings.Database(), Gene: r.Genes[0].Format(w),
		SourceRows: d.source.Rows, TargetRows: d.target.Rows, SourceHash: d.source.Set.String(), TargetHash: d.target.Set.String(),
		Code: d.target.Code, Times: times, At: now.UTC().Round(time.Millisecond),
	}
}

// figures contains the figures of one job.
type figures struct {
	Counts
	percent  int
	from, to router.ShardName
	outage   outage
	kept     []Difference // sorted by age, the newest last
}

// keep adds a difference, or counts it with an equal one.
func (f *figures) keep(d Difference) {
	i := slices.IndexFunc(f.kept, func(o Difference) bool {
		return o.Digest == d.Digest && o.Database == d.Database && o.Gene == d.Gene && o.SourceHash == d.SourceHash && o.TargetHash == d.TargetHash
	})
	if i >= 0 {
		d.Times += f.kept[i].Times
		f.kept = slices.Delete(f.kept, i, i+1)
	}
	f.kept = append(f.kept, d)
	if over := len(f.kept) - mostKept; over > 0 {
		f.kept = slices.Delete(f.kept, 0, over)
	}
}

// Follow starts counting for the given moves, from zero for those not mirrored before, and forgets other jobs. Counts remain when
// a move is no longer mirrored.
func (m *Mirror) Follow(moves []router.Move) {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := map[string]*figures{}
	var kept, all []router.Move
	for _, v := range moves {
		before := m.jobs[v.Job]
		switch {
		case before != nil && (before.percent > 0 || v.Mirror == 0):
			kept = append(kept, v)
		case v.Mirror == 0:
			continue
		default:
			before = &figures{from: v.From, to: v.To}
		}
		before.percent = v.Mirror
		all, next[v.Job] = append(all, v), before
	}
	m.times.Follow(kept) // discards the times of those that begin again
	m.times.Follow(all)
	m.jobs = next
}

// Reports returns the reports by job.
func (m *Mirror) Reports() map[string]Report {
	looking := map[string]int{}
	for job, list := range m.again.all() {
		looking[job] = len(list)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	times := m.times.Outcomes()
	all := map[string]Report{}
	for job, f := range m.jobs {
		r := Report{
			Counts: f.Counts, Percent: f.percent, From: f.from, To: f.to, Looking: looking[job], Away: f.outage.why, AwaySince: f.outage.since,
			Source: times[job].Source, Target: times[job].Target, Differences: slices.Clone(f.kept),
		}
		slices.Reverse(r.Differences)
		all[job] = r
	}
	return all
}

// SumReports adds up several proxies' reports of one job.
func SumReports(reports []Report) (sum Report) {
	var reasons []string
	for _, r := range reports {
		sum.Counts = sum.Counts.Plus(r.Counts)
		sum.Percent, sum.From, sum.To, sum.Looking = max(sum.Percent, r.Percent), r.From, r.To, sum.Looking+r.Looking
		if r.Away != "" && !slices.Contains(reasons, r.Away) {
			reasons = append(reasons, r.Away)
		}
		if r.Away != "" && (sum.AwaySince.IsZero() || r.AwaySince.Before(sum.AwaySince)) {
			sum.AwaySince = r.AwaySince
		}
		sum.Source.Times, sum.Target.Times = meter.AddTimes(sum.Source.Times, r.Source.Times), meter.AddTimes(sum.Target.Times, r.Target.Times)
		sum.Differences = append(sum.Differences, r.Differences...)
	}
	sum.Away = strings.Join(reasons, "; ")
	slices.SortStableFunc(sum.Differences, func(a, b Difference) int { return b.At.Compare(a.At) })
	return sum
}
