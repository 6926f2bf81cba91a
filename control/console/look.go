package console

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"locus/control/finding"
	"locus/control/fleet"
	"locus/control/overview"
	"locus/control/series"
	"locus/control/watch"
	"locus/migrate/job"
	"locus/router/cluster"
)

// Intervals of queries of the cluster. One query serves all requests. Without requests, the figures of the last hour
// need a slower rate.
const (
	lookEvery    = 500 * time.Millisecond
	lookUnasked  = 5 * time.Second
	lookFor      = 2 * time.Second
	ratesOver    = 5 * time.Second // period of the rates on the page
	pastMoves    = 20
	beatsAreGood = 900 * time.Millisecond
	// unaskedAreGood is less than lookUnasked, so that no beat is used twice. It is long enough for idle processes to
	// share one query.
	unaskedAreGood = 4 * time.Second
	// recentIs is the greatest age of the state in the metrics.
	recentIs = 3 * lookUnasked
)

// sight is the immutable result of one query.
type sight struct {
	overview.Seen
	moves []watch.Seen // including those that are over, oldest first
}

// looker queries the cluster for all requests and keeps the figures of the last hour.
type looker struct {
	proxy   Proxy
	self    fleet.Card
	cluster Cluster
	name    string
	kept    *series.Keeper
	check   *examiner
	outages func(context.Context, time.Time, []finding.Finding) // records them; may be nil
	latest  atomic.Pointer[sight]                               // is last, for readers that don't wait for a query

	mu      sync.Mutex // guards the fields below; held during a query
	watcher watch.Watcher
	before  []moment // the last seconds, oldest first
	last    *sight
	looked  time.Time
}

func newLooker(o Options, check *examiner) *looker {
	return &looker{
		proxy: o.Proxy, self: o.Self, cluster: o.Cluster, name: o.Name, kept: series.New(), check: check, outages: o.Outages,
		watcher: watch.Watcher{Source: o.Cluster, Past: pastMoves, Mirrored: o.Cluster.Mirrored},
	}
}

// run queries the cluster at intervals, so that the figures of the last hour exist before somebody requests them.
func (l *looker) run(ctx context.Context) {
	tick := time.NewTicker(lookUnasked)
	defer tick.Stop()
	for {
		found := l.seeBy(ctx, unaskedAreGood)
		if l.outages != nil {
			l.outages(ctx, found.At, overview.Of(found.Seen).Findings)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// see returns the cluster's state, at most half a second old. If etcd can't be read, it returns the last state with
// this proxy's own figures.
func (l *looker) see(ctx context.Context) *sight { return l.seeBy(ctx, beatsAreGood) }

// recent returns the state of the last query, without one of its own; nil: there was none lately.
func (l *looker) recent() *overview.State {
	s := l.latest.Load()
	if s == nil || time.Since(s.At) > recentIs {
		return nil
	}
	return overview.Of(s.Seen)
}

// seeBy uses beats of the other proxies that are no older than fresh.
func (l *looker) seeBy(ctx context.Context, fresh time.Duration) *sight {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last != nil && time.Since(l.looked) < lookEvery {
		return l.last
	}
	found := l.look(context.WithoutCancel(ctx), time.Now(), fresh) // the result is for other requests too
	l.last, l.looked = found, time.Now()
	l.latest.Store(found)
	return found
}

func (l *looker) look(ctx context.Context, now time.Time, fresh time.Duration) *sight {
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	next := &sight{Seen: overview.Seen{Name: l.name, At: now, Declared: l.declared()}}
	beats, err := l.read(ctx, next, fresh)
	if err != nil {
		next.Blind = err
		if l.last != nil {
			next.Cards, next.moves, next.Moves, next.Notes = l.last.Cards, l.last.moves, l.last.Moves, l.last.Notes
		}
		beats = fleet.Answers[fleet.Beat]{By: map[string]fleet.Beat{}}
	}
	l.own(next, &beats)
	next.Now = beats
	next.Before, next.Earlier = l.note(now, beats, next.Declared)
	l.check.kept(next.Report.At)
	if l.last != nil && !maps.Equal(unwell(l.last.Now), unwell(beats)) {
		l.check.outdate(now)
	}
	next.Etcd = l.check.known()
	next.Findings = next.Report.Findings
	l.kept.Add(now, series.Look{Beats: beats.By, Lags: lags(next.Moves), Moves: figures(next.Moves, now)})
	return next
}

// declared returns the cluster in force with the current map.
func (l *looker) declared() *cluster.Cluster {
	c := *l.proxy.Declared()
	c.Routes = l.proxy.Map()
	return &c
}

// read queries etcd, and through it the proxies.
func (l *looker) read(ctx context.Context, into *sight, fresh time.Duration) (beats fleet.Answers[fleet.Beat], err error) {
	if into.Cards, err = l.cluster.Cards(ctx); err != nil {
		return beats, err
	}
	if into.moves, _, err = l.watcher.Look(ctx); err != nil {
		return beats, err
	}
	if into.Notes, err = l.cluster.Notes(ctx); err != nil {
		return beats, err
	}
	for _, m := range into.moves {
		if !m.Job.State.Over() {
			into.Moves = append(into.Moves, m)
		}
	}
	return l.cluster.Beats(ctx, fresh)
}

// own adds this process's own figures if it is a proxy, which doesn't take etcd.
func (l *looker) own(next *sight, beats *fleet.Answers[fleet.Beat]) {
	if !l.self.Proxies() {
		return
	}
	if !slices.ContainsFunc(next.Cards, func(c fleet.Card) bool { return c.ID == l.self.ID }) {
		if next.Blind == nil {
			return // the process is just starting or has stopped
		}
		card := l.self
		card.MapVersion = next.Declared.Routes.Version()
		next.Cards = append(slices.Clone(next.Cards), card)
	}
	by := maps.Clone(beats.By)
	if by == nil {
		by = map[string]fleet.Beat{}
	}
	by[l.self.ID] = fleet.BeatOf(l.proxy.Status(), l.self.Started, time.Now())
	beats.By = by
}

// moment contains the observations of one time.
type moment struct {
	at       time.Time
	beats    fleet.Answers[fleet.Beat]
	declared *cluster.Cluster
}

// note stores beats, from which later rates are computed, and the declarations. It returns the beats at the start of the
// current rates.
func (l *looker) note(now time.Time, beats fleet.Answers[fleet.Beat], declared *cluster.Cluster) (fleet.Answers[fleet.Beat], *cluster.Cluster) {
	for len(l.before) > 1 && now.Sub(l.before[1].at) >= ratesOver {
		l.before = l.before[1:]
	}
	l.before = append(l.before, moment{now, beats, declared})
	return l.before[0].beats, l.before[0].declared
}

// unwell returns the servers that some proxy reports as not well.
func unwell(beats fleet.Answers[fleet.Beat]) map[string]bool {
	servers := map[string]bool{}
	for _, b := range beats.By {
		for _, s := range b.Servers {
			servers[s.Addr] = true
		}
	}
	return servers
}

// lags returns by shard the lag of moves to it.
func lags(moves []watch.Seen) map[string]int64 {
	by := map[string]int64{}
	for _, m := range moves {
		add := func(shard string, ms int64) { by[shard] = max(by[shard], ms) }
		for _, l := range m.Job.Legs() {
			add(string(l.To), m.Report.LagMs)
		}
		if m.Job.State.Reversible {
			add(string(m.Job.From), m.Report.BackLagMs)
		}
	}
	return by
}

// figures returns the moves' figures for their charts.
func figures(moves []watch.Seen, now time.Time) map[string]series.Move {
	by := map[string]series.Move{}
	for _, m := range moves {
		p := job.See(m.Job, m.Earlier, m.Report, now)
		before, since := m.Report.Before, m.Report.After
		by[m.Job.ID] = series.Move{
			AtTarget: float32(p.AtTarget), Rows: float32(p.Rows), LagMs: int32(min(m.Report.LagMs, 1<<30)),
			BeforeP99Ms: float32(before.P99Ms), SinceP99Ms: float32(since.P99Ms), BeforeFailed: failedShare(before), SinceFailed: failedShare(since),
		}
	}
	return by
}

func failedShare(f job.Fared) float32 {
	return float32(100 * float64(f.Failed) / float64(max(1, f.Statements)))
}

// jobOf finds a move by its ID.
func (s *sight) jobOf(id string) *job.Job {
	for _, m := range s.moves {
		if m.Job.ID == id {
			return m.Job
		}
	}
	return nil
}
