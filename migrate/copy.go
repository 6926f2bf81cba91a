package migrate

import (
	"context"
	"time"

	"locus/migrate/copier"
	"locus/migrate/job"
	"locus/migrate/phase"
)

// copyRows brings every row to the target while the stream is on.
type copyRows struct {
	shards  *shards
	streams *streams
	report  *reporter
}

func (a copyRows) do(ctx context.Context, s Snapshot) (*phase.Event, error) {
	c := copier.New(copier.Config{
		Job: s.Job.ID, Source: a.shards.source, Target: a.shards.target, Tables: a.shards.tables, Parts: a.shards.parts,
		Throttle: throttle(s.Job.Throttle),
	}, a.streams.forward)
	stop := a.report.follow(ctx, func(r *job.Report) { reportCopy(r, c.Progress()) })
	defer stop()
	if err := c.Run(ctx); err != nil {
		return nil, err
	}
	return &phase.Event{Kind: phase.Copied}, nil
}

// reportCopy makes a new slice of tables: the old one may be on its way out.
func reportCopy(r *job.Report, p copier.Progress) {
	r.RowsCopied, r.RowsEstimate, r.BytesCopied, r.Lanes, r.LanesDone = p.Rows, p.Estimate, p.Bytes, p.Lanes, p.LanesDone
	r.Tables = nil
	for _, t := range p.Tables {
		r.Tables = append(r.Tables, job.TableCopy{Name: t.Name, RowsCopied: t.Rows, RowsEstimate: t.Estimate, Lanes: t.Lanes, LanesDone: t.LanesDone})
	}
}

// catchUp waits until the stream has applied what the source has logged by now.
type catchUp struct{ streams *streams }

func (a catchUp) do(ctx context.Context, _ Snapshot) (*phase.Event, error) {
	if err := a.streams.forward.caughtUp(ctx); err != nil {
		return nil, err
	}
	return &phase.Event{Kind: phase.CaughtUp}, nil
}

// throttle rests for a share of the time.
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
