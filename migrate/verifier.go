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
	owners *owners // of an import; else nil
	report *reporter
	fresh  time.Duration // for which a comparison counts
	log    *slog.Logger

	compared map[string]int64 // rows by table, of the comparison under way or the last; replaced, never edited
	verified time.Time        // when the last comparison that passed began; zero: none by this process
}

// do compares the two servers: the rows of the source as the source has them,
// those of the target as the target has.
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
	// Told at the end and together: who reads that it passed reads all of it.
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

// forgetChanged forgets which rows have changed: everything is about to be compared.
func (v *verifier) forgetChanged() {
	for _, l := range v.legs {
		for _, st := range l.streams.running() {
			st.TakeTouched()
		}
		l.changed = changedRows{}
	}
}

// tooManyChanged tells whether rows have changed of which nobody knows any more.
func (v *verifier) tooManyChanged() bool {
	return slices.ContainsFunc(v.legs, func(l *leg) bool { return l.changed.tooMany })
}

// compareLeg compares the rows of which the source is the owner, and those of the target.
func (v *verifier) compareLeg(ctx context.Context, s Snapshot, l *leg, target, source router.Part) error {
	err := v.compare(ctx, s, l, source, l.shards.source, l.streams.forward, l.id)
	if err == nil {
		err = v.compare(ctx, s, l, target, l.shards.target, l.streams.back, backJob(l.id))
	}
	return err
}

// compare compares the rows of one owner with what the stream from there has made of them.
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
	var before int64 // of the legs that were compared
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

// recheck compares those of some rows that changed since they were last compared. Without any it does nothing.
func (l *leg) recheck(ctx context.Context, rows router.Part, giver link.Server, atGiver, atReceiver *link.Conn, by *stream) error {
	keys := l.changed.of(rows)
	if len(keys) == 0 {
		return nil
	}
	result, err := checksum.New(checksum.Config{
		Job: l.id + "/step", Source: giver, Target: l.shards.other(giver), Tables: l.shards.tables, Parts: table.Split(rows.Genes, 1),
	}, by).Recheck(ctx, atGiver, atReceiver, keys)
	if err == nil {
		err = l.verdict(result, giver)
	}
	if _, different := errors.AsType[*differencesError](err); err != nil && !different {
		l.changed.tooMany = true // those that were taken out are not compared
	}
	return err
}

// verdict is the error that a comparison of an owner's rows ends with.
func (l *leg) verdict(result checksum.Result, owner link.Server) error {
	switch {
	case len(result.Differences) > 0:
		return &differencesError{l, owner, result}
	case result.Unsettled > 0:
		return fmt.Errorf("%d rows changed too often to be compared", result.Unsettled)
	}
	return nil
}

// stale tells whether the last comparison is too old for a step.
func (v *verifier) stale() bool {
	return v.verified.IsZero() || time.Since(v.verified) > v.fresh
}

// untilDue is when to compare again: at once if this process never did.
func (v *verifier) untilDue() time.Duration {
	if v.verified.IsZero() {
		return 0
	}
	return max(0, v.fresh/2-time.Since(v.verified))
}

// added is both counts together.
func added(a, b map[string]int64) map[string]int64 {
	all := maps.Clone(a)
	for name, n := range b {
		all[name] += n
	}
	return all
}

// restart forgets an earlier comparison: this one is to be of now.
func restart(ctx context.Context, at link.Server, name string) error {
	c, err := link.Dial(ctx, at)
	if err != nil {
		return err
	}
	defer c.Close()
	return checkpoint.Restart(ctx, c, name, checkpoint.Verify)
}
