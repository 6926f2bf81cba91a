package migrate

import (
	"context"
	"time"

	"locus/migrate/copier"
	"locus/migrate/job"
	"locus/migrate/phase"
)

// copyRows copies every row to the target while the stream runs.
type copyRows struct {
	legs   legs
	report *reporter
}

func (a copyRows) do(ctx context.Context, s Snapshot) (*phase.Event, error) {
	copies := map[*leg]*copier.Copier{}
	for _, l := range a.legs {
		copies[l] = copier.New(copier.Config{
			Job: l.id, Source: l.shards.source, Target: l.shards.target, Tables: l.shards.tables, Parts: l.shards.parts,
			Filled: s.Job.Import != nil, Throttle: throttle(s.Job.Throttle),
		}, l.streams.forward)
	}
	stop := a.report.follow(ctx, func(r *job.Report) { reportCopy(r, a.progress(copies)) })
	defer stop()
	if err := a.legs.each(ctx, func(ctx context.Context, l *leg) error { return copies[l].Run(ctx) }); err != nil {
		return nil, err
	}
	return &phase.Event{Kind: phase.Copied}, nil
}

// progress returns the sum over all legs. Each leg estimates its share of the tables.
func (a copyRows) progress(copies map[*leg]*copier.Copier) copier.Progress {
	var sum copier.Progress
	for _, l := range a.legs {
		sum = sum.Plus(copies[l].Progress())
	}
	return sum
}

// reportCopy allocates a new slice of tables, because the old one may be in use by a write of the report.
func reportCopy(r *job.Report, p copier.Progress) {
	r.RowsCopied, r.RowsEstimate, r.BytesCopied, r.Lanes, r.LanesDone = p.Rows, p.Estimate, p.Bytes, p.Lanes, p.LanesDone
	r.Tables = nil
	for _, t := range p.Tables {
		r.Tables = append(r.Tables, job.TableCopy{Name: t.Name, RowsCopied: t.Rows, RowsEstimate: t.Estimate, Lanes: t.Lanes, LanesDone: t.LanesDone})
	}
}

// catchUp waits until the stream has applied everything that the source has logged so far.
type catchUp struct{ legs legs }

func (a catchUp) do(ctx context.Context, _ Snapshot) (*phase.Event, error) {
	err := a.legs.each(ctx, func(ctx context.Context, l *leg) error { return l.streams.forward.caughtUp(ctx) })
	if err != nil {
		return nil, err
	}
	return &phase.Event{Kind: phase.CaughtUp}, nil
}

// throttle returns a function that sleeps for a share of the time.
func throttle(percent int) func(context.Context) error {
	if percent <= 0 {
		return nil
	}
	last := time.Now()
	return func(ctx context.Context) error {
		worked := min(time.Since(last), 10*time.Second)
		err := pause(ctx, worked*time.Duration(percent)/time.Duration(100-percent))
		last = time.Now()
		return err
	}
}
