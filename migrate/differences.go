package migrate

import (
	"context"
	"fmt"

	"locus/migrate/checksum"
	"locus/migrate/job"
	"locus/migrate/link"
	"locus/migrate/phase"
	"locus/migrate/table"
)

// differencesError reports a comparison that found different rows of one owner on two servers.
type differencesError struct {
	leg   *leg
	owner link.Server
	found checksum.Result
}

func (e *differencesError) Error() string {
	n := "1 row"
	switch {
	case e.found.Beyond > 0:
		n = fmt.Sprintf("about %d rows", int64(len(e.found.Differences))+e.found.Beyond)
	case len(e.found.Differences) > 1:
		n = fmt.Sprintf("%d rows", len(e.found.Differences))
	}
	return fmt.Sprintf("the servers differ in %s, such as %s", n, e.found.Differences[0])
}

// remedy returns the advice that is shown with the failed job.
func (e *differencesError) remedy(id string) string {
	many := ""
	if e.found.Beyond > 0 {
		many = "; a new job copies so many rows faster"
	}
	return fmt.Sprintf("locus repair %[1]s --dry-run lists the rows, and locus repair %[1]s --take source, target or newer makes them equal; locus resume %[1]s compares again, and locus abort %[1]s gives up%[2]s",
		id, many)
}

// list stores the differing rows for a repair, and returns the event for the job.
func (w *worker) list(ctx context.Context, e *differencesError) (*phase.Event, error) {
	before, err := w.runner.Store.Differences(ctx, w.id)
	if err != nil {
		return nil, err
	}
	l := job.Differences{Last: before.Last, Beyond: e.found.Beyond}
	for _, d := range e.found.Differences {
		l.Add(e.leg.seen(d, e.owner))
	}
	if err := w.runner.Store.List(ctx, w.id, l); err != nil {
		return nil, err
	}
	return &phase.Event{Kind: phase.FailedWith, Why: e.Error(), Remedy: e.remedy(w.id), Rows: len(l.Rows)}, nil
}

// seen converts a difference into the form in which it is listed.
func (l *leg) seen(d checksum.Difference, owner link.Server) job.Difference {
	row := job.Difference{
		Leg: l.id, Table: d.Table.Name.String(), Key: d.Key.Encode(), KeyText: d.Key.Short(), Columns: d.Columns, Owner: job.AtSource,
		Versioned: d.Table.Version >= 0, Source: job.Image(d.Source), Target: job.Image(d.Target),
	}
	if d.Twin != nil {
		row.Left = d.Twin.String() + ": " + table.TwinRemedy
	}
	if owner == l.shards.target {
		row.Owner = job.AtTarget
		row.Source, row.Target = row.Target, row.Source
	}
	return row
}

// unlist removes the list of rows that no longer differ. If that fails, the remaining list does no harm.
func (w *worker) unlist(ctx context.Context) {
	l, err := w.runner.Store.Differences(ctx, w.id)
	if err == nil && len(l.Rows) > 0 {
		err = w.runner.Store.List(ctx, w.id, job.Differences{Last: l.Last})
	}
	if err != nil && ctx.Err() == nil {
		w.log.Warn("forget the rows that differed", "error", err)
	}
}
