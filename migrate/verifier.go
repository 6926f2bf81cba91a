package migrate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"locus/migrate/checkpoint"
	"locus/migrate/checksum"
	"locus/migrate/job"
	"locus/migrate/link"
	"locus/migrate/phase"
	"locus/migrate/table"
	"locus/router"
)

// verifier compares the servers of a job's legs. One goroutine uses it.
type verifier struct {
	legs   legs
	owners *owners // for an import; otherwise nil
	report *reporter
	fresh  time.Duration // how long a comparison is valid
	log    *slog.Logger

	compared map[string]int64 // rows by table, of the running or the last comparison; replaced, never edited
	verified time.Time        // start of the last comparison that passed; zero if this process has none
}

// do compares the two servers. For rows that the source owns, the source is the reference; for the target's
// rows, the target is.
func (v *verifier) do(ctx context.Context, s Snapshot) (*phase.Event, error) {
	began := time.Now()
	v.forgetChanged()
	v.compared = map[string]int64{}
	target, source := s.Job.Rows(s.Job.State.Cut)
	var err error
	if v.owners != nil && target.Empty() {
		err = v.owners.lookAtAll(ctx, v.legs[0].shards.source, s.Job.From, v.legs[0].shards.tables, throttle(s.Job.Throttle))
	}
	for _, l := range v.legs {
		if err == nil {
			err = v.compareLeg(ctx, s, l, target.Of(l.genes), source.Of(l.genes))
		}
	}
	// Reported at the end and in one update, so that a reader who sees that it passed sees all of it.
	if _, different := errors.AsType[*differencesError](err); different {
		v.report.update(func(r *job.Report) { r.Compared = v.compared })
	}
	if err != nil {
		return nil, err
	}
	v.verified = began
	v.report.update(func(r *job.Report) { r.Verified, r.Compared = began, v.compared })
	return &phase.Event{Kind: phase.Verified}, nil
}

// forgetChanged clears the lists of changed rows, because all rows are about to be compared.
func (v *verifier) forgetChanged() {
	for _, l := range v.legs {
		for _, st := range l.streams.running() {
			st.TakeTouched()
		}
		l.changed = changedRows{}
	}
}

// tooManyChanged reports whether the list of changed rows of a leg is incomplete.
func (v *verifier) tooManyChanged() bool {
	return slices.ContainsFunc(v.legs, func(l *leg) bool { return l.changed.tooMany })
}

// compareLeg compares the rows that the source owns, and those that the target owns.
func (v *verifier) compareLeg(ctx context.Context, s Snapshot, l *leg, target, source router.Part) error {
	err := v.compare(ctx, s, l, source, l.shards.source, l.streams.forward, l.id)
	if err == nil {
		err = v.compare(ctx, s, l, target, l.shards.target, l.streams.back, backJob(l.id))
	}
	return err
}

// compare compares one owner's rows with the copy that the stream has made of them.
func (v *verifier) compare(ctx context.Context, s Snapshot, l *leg, rows router.Part, owner link.Server, by *stream, name string) error {
	if rows.Empty() {
		return nil
	}
	name += "/verify"
	other := l.shards.other(owner)
	if err := restart(ctx, other, name); err != nil {
		return err
	}
	repairs, err := v.cascades(ctx, s, l, owner)
	if err != nil {
		return err
	}
	defer repairs.close()
	c := checksum.New(checksum.Config{
		Job: name, Source: owner, Target: other, Tables: l.shards.tables, Rows: rows,
		Parts:    table.Split(rows.Genes, min(s.Job.Parts, rows.Genes.Len())),
		Throttle: throttle(s.Job.Throttle), Repair: repairs.do,
	}, by)
	var before int64 // rows of the legs that were compared before
	for _, rows := range v.compared {
		before += rows
	}
	stop := v.report.follow(ctx, func(r *job.Report) { r.RowsVerified = before + c.Progress().Rows })
	defer stop()
	result, err := c.Run(ctx)
	v.compared = added(v.compared, c.ByTable())
	if err != nil {
		return err
	}
	return l.verdict(result, owner)
}

// recheck compares those of the given rows that changed since they were last compared. If there are none, it
// does nothing.
func (l *leg) recheck(ctx context.Context, rows router.Part, old link.Server, atOld, atNew *link.Conn, by *stream) error {
	keys := l.changed.of(rows)
	if len(keys) == 0 {
		return nil
	}
	result, err := checksum.New(checksum.Config{
		Job: l.id + "/step", Source: old, Target: l.shards.other(old), Tables: l.shards.tables, Parts: table.Split(rows.Genes, 1),
	}, by).Recheck(ctx, atOld, atNew, keys)
	if err == nil {
		err = l.verdict(result, old)
	}
	if _, different := errors.AsType[*differencesError](err); err != nil && !different {
		l.changed.tooMany = true // the rows were removed from the list, but not compared
	}
	return err
}

// verdict returns the error for the result of comparing an owner's rows.
func (l *leg) verdict(result checksum.Result, owner link.Server) error {
	switch {
	case len(result.Differences) > 0:
		return &differencesError{l, owner, result}
	case result.Unsettled > 0:
		return fmt.Errorf("%d rows changed too often to be compared", result.Unsettled)
	}
	return nil
}

// stale reports whether the last comparison is too old for a step.
func (v *verifier) stale() bool {
	return v.verified.IsZero() || time.Since(v.verified) > v.fresh
}

// untilDue returns the time until the next comparison; 0 if this process has made none.
func (v *verifier) untilDue() time.Duration {
	if v.verified.IsZero() {
		return 0
	}
	return max(0, v.fresh/2-time.Since(v.verified))
}

// added returns the sums of two counts.
func added(a, b map[string]int64) map[string]int64 {
	all := maps.Clone(a)
	for name, n := range b {
		all[name] += n
	}
	return all
}

// restart deletes the progress of an earlier comparison, so that this one reads all rows again.
func restart(ctx context.Context, at link.Server, name string) error {
	c, err := link.Dial(ctx, at)
	if err != nil {
		return err
	}
	defer c.Close()
	return checkpoint.Restart(ctx, c, name, checkpoint.Verify)
}
