package migrate

import (
	"context"
	"time"

	"locus/migrate/phase"
)

// keep keeps both shards equal: the streams run, and everything is compared again before the last comparison is too old to
// count. After the last step of a cut-over that rolls it watches for as long as after the others.
type keep struct {
	monitor  *monitor
	verifier *verifier
}

func (a keep) do(ctx context.Context, s Snapshot) (*phase.Event, error) {
	m, st := a.monitor, s.Job.State
	if s.Job.Import.Global() && st.Cut > 0 { // clients keep the shards equal themselves
		return wait{}.do(ctx, s)
	}
	defer func() { m.stepped = time.Time{} }() // whoever goes on from here wants a step now
	if st.Cut > 0 && s.Job.Every > 0 {
		defer m.accept(ctx) // what happened meanwhile is not what a later step did
	}
	if st.Cut == 0 {
		m.waitBegins(ctx)
	}
	if until := m.stepped.Add(s.Job.Every); st.Phase == phase.Cut && !st.Paused && time.Now().Before(until) {
		if event, err := m.watchUntil(ctx, s, until); event != nil || err != nil {
			return event, err
		}
	}
	return a.compareAgain(ctx, s)
}

func (a keep) compareAgain(ctx context.Context, s Snapshot) (*phase.Event, error) {
	for {
		if s.Job.State.Verified || a.verifier.verified.IsZero() { // else somebody wants to know now
			if err := pause(ctx, a.verifier.untilDue()); err != nil {
				return nil, err
			}
		}
		event, err := a.verifier.do(ctx, s)
		if err != nil || event.Kind != phase.Verified || !s.Job.State.Verified {
			return event, err
		}
	}
}
