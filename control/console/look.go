package console

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"locus/control/fleet"
	"locus/control/overview"
	"locus/control/series"
	"locus/control/watch"
	"locus/migrate/job"
	"locus/router/cluster"
)

// Looks at the cluster. One serves everybody who asks; while nobody does, the figures of
// the last hour need some.
const (
	lookEvery    = 500 * time.Millisecond
	lookUnasked  = 5 * time.Second
	lookFor      = 2 * time.Second
	ratesOver    = 5 * time.Second // rates on the page are of so long
	pastMoves    = 20
	beatsAreGood = 900 * time.Millisecond
	// unaskedAreGood is less than lookUnasked, so that no beat is taken twice, and enough for
	// processes that nobody looks at to share one question.
	unaskedAreGood = 4 * time.Second
)

// sight is what one look has found. It is never changed.
type sight struct {
	overview.Seen
	moves []watch.Seen // those too that are over, the oldest first
}

// looker looks at the cluster for everybody, and keeps the figures of the last hour.
type looker struct {
	proxy   Proxy
	self    fleet.Card
	cluster Cluster
	name    string
	kept    *series.Keeper
	check   *examiner

	mu      sync.Mutex // of what follows; held during a look
	watcher watch.Watcher
	beats   []fleet.Answers[fleet.Beat] // of the last seconds, the oldest first
	times   []time.Time                 // of them
	last    *sight
	looked  time.Time
}

func newLooker(o Options, check *examiner) *looker {
	return &looker{
		proxy: o.Proxy, self: o.Self, cluster: o.Cluster, name: o.Name, kept: series.New(), check: check,
		watcher: watch.Watcher{Source: o.Cluster, Past: pastMoves, Mirrored: o.Cluster.Mirrored},
	}
}

// run looks now and then, so that the figures of the last hour are there when somebody
// comes.
func (l *looker) run(ctx context.Context) {
	tick := time.NewTicker(lookUnasked)
	defer tick.Stop()
	for {
		l.seeBy(ctx, unaskedAreGood)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// see is what there is to be seen, at most half a second old. Where etcd can't be read it is
// what was seen before, with what this proxy knows by itself.
func (l *looker) see(ctx context.Context) *sight { return l.seeBy(ctx, beatsAreGood) }

// seeBy takes beats of the other proxies that are no older than fresh.
func (l *looker) seeBy(ctx context.Context, fresh time.Duration) *sight {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last != nil && time.Since(l.looked) < lookEvery {
		return l.last
	}
	found := l.look(context.WithoutCancel(ctx), time.Now(), fresh) // it is for others too
	l.last, l.looked = found, time.Now()
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
			next.Cards, next.moves, next.Moves = l.last.Cards, l.last.moves, l.last.Moves
		}
		beats = fleet.Answers[fleet.Beat]{By: map[string]fleet.Beat{}}
	}
	l.own(next, &beats)
	next.Now, next.Before = beats, l.note(now, beats)
	if l.last != nil && !maps.Equal(unwell(l.last.Now), unwell(beats)) {
		l.check.hurry() // what doctor has found is old
	}
	next.Etcd, next.Findings = l.check.known()
	l.kept.Add(now, series.Look{Beats: beats.By, Lags: lags(next.Moves), Moves: figures(next.Moves, now)})
	return next
}

// declared is what is in force, with the map of now.
func (l *looker) declared() *cluster.Cluster {
	c := *l.proxy.Declared()
	c.Routes = l.proxy.Map()
	return &c
}

// read asks etcd, and by it the proxies.
func (l *looker) read(ctx context.Context, into *sight, fresh time.Duration) (beats fleet.Answers[fleet.Beat], err error) {
	if into.Cards, err = l.cluster.Cards(ctx); err != nil {
		return beats, err
	}
	if into.moves, _, err = l.watcher.Look(ctx); err != nil {
		return beats, err
	}
	for _, m := range into.moves {
		if !m.Job.State.Over() {
			into.Moves = append(into.Moves, m)
		}
	}
	return l.cluster.Beats(ctx, fresh)
}

// own adds what this process knows of itself, if it is a proxy: that takes no etcd.
func (l *looker) own(next *sight, beats *fleet.Answers[fleet.Beat]) {
	if !l.self.Proxies() {
		return
	}
	if !slices.ContainsFunc(next.Cards, func(c fleet.Card) bool { return c.ID == l.self.ID }) {
		if next.Blind == nil {
			return // it is about to come, or has gone
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

// note keeps beats for the next rates, and gives those that they begin with.
func (l *looker) note(now time.Time, beats fleet.Answers[fleet.Beat]) fleet.Answers[fleet.Beat] {
	for len(l.times) > 1 && now.Sub(l.times[1]) >= ratesOver {
		l.times, l.beats = l.times[1:], l.beats[1:]
	}
	before := beats
	if len(l.beats) > 0 {
		before = l.beats[0]
	}
	l.times, l.beats = append(l.times, now), append(l.beats, beats)
	return before
}

// unwell is the servers that some proxy sees so.
func unwell(beats fleet.Answers[fleet.Beat]) map[string]bool {
	servers := map[string]bool{}
	for _, b := range beats.By {
		for _, s := range b.Servers {
			servers[s.Addr] = true
		}
	}
	return servers
}

// lags is by shard how far what is moved to it is behind.
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

// figures is how moves are, for their curves.
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

// jobOf finds a move among those that were seen.
func (s *sight) jobOf(id string) *job.Job {
	for _, m := range s.moves {
		if m.Job.ID == id {
			return m.Job
		}
	}
	return nil
}
