package console

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"locus/control/watch"
	"locus/migrate/job"
)

// moves caches the active jobs for metrics.
type moves struct {
	source watch.Source
	now    func() time.Time

	mu     sync.Mutex // guards the fields below; held during a query
	looked time.Time
	seen   []watch.Seen
}

// A result is reused for a while, since several servers may scrape. A query that takes too long omits only the moves;
// locus_source_up reports it.
const (
	movesLast    = time.Second
	movesWithin  = 2 * time.Second
	movesRefused = 10 * time.Second
)

func (m *moves) look() []watch.Seen {
	if m.source == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if now.Before(m.looked) {
		return m.seen
	}
	ctx, cancel := context.WithTimeout(context.Background(), movesWithin)
	defer cancel()
	seen, _, err := (&watch.Watcher{Source: m.source}).Look(ctx)
	m.seen, m.looked = seen, now.Add(movesLast)
	if err != nil {
		m.seen, m.looked = nil, now.Add(movesRefused)
	}
	return m.seen
}

func moveMetrics(all []watch.Seen, now time.Time, gauge func(*prometheus.Desc, float64, ...string)) {
	for _, s := range all {
		tellMove(s, now, gauge)
	}
}

func tellMove(s watch.Seen, now time.Time, gauge func(*prometheus.Desc, float64, ...string)) {
	j, r := s.Job, s.Report
	p := job.See(j, s.Earlier, r, now)
	tell := func(d *prometheus.Desc, v float64, more ...string) {
		gauge(d, v, append([]string{j.ID, string(j.From), j.Target()}, more...)...)
	}
	tell(movePhase, 1, string(j.State.Shown()))
	tell(movePercent, p.Copied, "copied")
	tell(movePercent, p.Verified, "verified")
	tell(movePercent, p.AtTarget, "at_target")
	tell(movePercent, p.Wanted, "wanted")
	if r.At.IsZero() {
		return // no report yet
	}
	tell(moveLag, float64(r.LagMs)/1000, "forward")
	if j.State.Reversible {
		tell(moveLag, float64(r.BackLagMs)/1000, "back")
	}
	tell(moveHeld, float64(r.LastFenceMs)/1000)
	tell(moveConflicts, float64(r.Conflicts))
	tell(moveRows, float64(r.RowsCopied), "copied")
	tell(moveRows, float64(r.RowsVerified), "verified")
	tell(moveRows, float64(r.RowsDeleted), "deleted")
	tell(moveRows, float64(r.Changes), "changed")
	tell(moveTrouble, truth(r.Trouble != ""))
	tell(moveReported, max(0, now.Sub(r.At).Seconds()))
}
