package migrate

import (
	"context"
	"time"

	"locus/migrate/phase"
)

// keep keeps both shards equal: the streams run, and all rows are compared again before the last comparison
// becomes too old. After the last step of a rolling cut-over, it watches the metrics for as long as after the
// other steps.
type keep struct {
	monitor  *monitor
	verifier *verifier
}

func (a keep) do(ctx context.Context, s Snapshot) (*phase.Event, error) {
	m, st := a.monitor, s.Job.State
	if s.Job.Import.Global() && st.Cut > 0 { // clients keep the shards equal themselves
		return wait{}.do(ctx, s)
	}
	defer func() { m.stepped = time.Time{} }() // the next action may step at once
	if st.Cut > 0 && s.Job.Every > 0 {
		defer m.accept(ctx) // a later step is not blamed for changes that happened meanwhile
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
		if s.Job.State.Verified || a.verifier.verified.IsZero() { // otherwise a comparison was requested and runs now
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
