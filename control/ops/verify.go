package ops

import (
	"context"
	"fmt"
	"time"

	"locus/migrate/audit"
	"locus/migrate/phase"
	"locus/migrate/repair"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// Comparison is the result of a comparison of a job's shards.
type Comparison struct {
	Job    string           `json:"job"`
	Equal  bool             `json:"equal"`
	Why    string           `json:"why,omitempty"`
	Tables map[string]int64 `json:"rows_compared"`
}

// comparisonPoll is the interval between checks of a comparison, in addition to the watch of its record.
const comparisonPoll = time.Second

// VerifyJob makes a job compare its shards, and waits for the result. Progress is called with the number of rows that were compared.
func (o *Ops) VerifyJob(ctx context.Context, r Verify, by string, progress func(rows int64)) (Comparison, error) {
	earlier, err := o.jobs.Reports(ctx)
	if err != nil {
		return Comparison{}, err
	}
	if _, err := o.Send(ctx, r, by, nil); err != nil {
		return Comparison{}, err
	}
	waiting, cancel := context.WithCancel(ctx)
	changes := o.jobs.Changes(waiting)
	defer func() {
		cancel()
		for range changes { // drain the channel until the store closes it
		}
	}()
	poll := time.NewTicker(comparisonPoll)
	defer poll.Stop()
	for {
		s, err := o.jobs.Read(ctx, r.Job)
		if err != nil {
			return Comparison{}, err
		}
		reports, err := o.jobs.Reports(ctx)
		if err != nil {
			return Comparison{}, err
		}
		report := reports[r.Job]
		switch st := s.Job.State; {
		case st.Phase == phase.Failed:
			return Comparison{Job: r.Job, Why: st.Why, Tables: report.Compared}, nil
		case st.Verified && !report.Verified.Equal(earlier[r.Job].Verified): // and the report is that of this comparison
			return Comparison{Job: r.Job, Equal: true, Tables: report.Compared}, nil
		case st.Over():
			return Comparison{}, fmt.Errorf("job %s: it is %s, and was not compared any more", r.Job, st.Phase)
		}
		progress(report.RowsVerified)
		select {
		case <-ctx.Done():
			return Comparison{}, fmt.Errorf("the comparison goes on: locus jobs %s shows its outcome: %w", r.Job, ctx.Err())
		case <-changes:
		case <-poll.C:
		}
	}
}

// RowProgress is called with the number of rows of a table that were read on a shard.
type RowProgress func(name catalog.TableName, shard router.ShardName, rows uint64)

// CheckRows checks the rows of all tables of a cluster on all shards. Found is called with each finding at once. With an error, the
// findings are those until then.
func (o *Ops) CheckRows(ctx context.Context, c *cluster.Cluster, progress RowProgress, found func(Finding)) ([]Finding, error) {
	return audit.Run(ctx, audit.Config{
		Map: c.Routes, Shards: c.ShardNames(), Tables: c.Tables, Server: o.jobs.Shard, Reload: o.jobs.Map, Progress: progress, Found: found,
	})
}

// BringHome requests that misplaced rows are moved to the shards that own them.
type BringHome struct {
	// Take is the row that stays if the owner has another one: owner, misplaced or newer; empty: such rows are left.
	Take string
	// DryRun: nothing is written.
	DryRun bool
}

// Check returns an *Invalid for an unknown row to take.
func (r BringHome) Check() error {
	if !repair.TakeStray(r.Take).Valid() {
		return invalid("the row of the %q can't be taken; take owner, misplaced or newer", r.Take)
	}
	return nil
}

// BringHome moves misplaced rows to the shards that own them. Found is called with each of them, and whether it was left.
func (o *Ops) BringHome(ctx context.Context, c *cluster.Cluster, r BringHome, by string, progress RowProgress, found func(row Misplaced, left bool)) error {
	if err := r.Check(); err != nil {
		return err
	}
	return repair.Misplaced{
		Shards: c.ShardNames(), Tables: c.Tables, Server: o.jobs.Shard, Map: o.jobs.Map,
		Take: repair.TakeStray(r.Take), DryRun: r.DryRun, By: by, Progress: progress,
		Found: func(s repair.Stray) { found(s, s.Deed == repair.Leave) },
	}.Run(ctx)
}
