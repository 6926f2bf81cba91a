package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"locus/idgen/gene"
	"locus/migrate/checkpoint"
	"locus/migrate/checksum"
	"locus/migrate/job"
	"locus/migrate/link"
	"locus/migrate/phase"
	"locus/migrate/table"
)

// verifier compares the two shards of a job. One goroutine uses it.
type verifier struct {
	job     string
	shards  *shards
	streams *streams
	report  *reporter
	fresh   time.Duration // for which a comparison counts

	changed  changedRows      // since the last comparison began
	compared map[string]int64 // rows by table, of the comparison under way or the last; replaced, never edited
	verified time.Time        // when the last comparison that passed began; zero: none by this process
}

// do compares the two servers: the genes of the source as the source has them,
// those of the target as the target has.
func (v *verifier) do(ctx context.Context, s Snapshot) (*phase.Event, error) {
	began := time.Now()
	v.forgetChanged()
	v.compared = map[string]int64{}
	cut := s.Job.AtTarget(s.Job.State.Cut)
	err := v.compare(ctx, s, s.Job.Genes.Subtract(cut), v.shards.source, v.streams.forward, v.job)
	if err == nil && !cut.Empty() {
		err = v.compare(ctx, s, cut, v.shards.target, v.streams.back, backJob(v.job))
	}
	// Told at the end and together: who reads that it passed reads all of it.
	if different, ok := errors.AsType[*differencesError](err); ok {
		v.report.update(func(r *job.Report) { r.Compared = v.compared })
		return different.event(v.job), nil
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
	for _, st := range v.streams.running() {
		st.TakeTouched()
	}
	v.changed = changedRows{}
}

// compare compares the genes of one owner with what the stream from there has made of them.
func (v *verifier) compare(ctx context.Context, s Snapshot, genes gene.Set, owner link.Server, by *stream, name string) error {
	if genes.Empty() {
		return nil
	}
	name += "/verify"
	other := v.shards.other(owner)
	if err := restart(ctx, other, name); err != nil {
		return err
	}
	c := checksum.New(checksum.Config{
		Job: name, Source: owner, Target: other, Tables: v.shards.tables, Parts: table.Split(genes, min(s.Job.Parts, genes.Len())),
		Throttle: throttle(s.Job.Throttle),
	}, by)
	stop := v.report.follow(ctx, func(r *job.Report) { r.RowsVerified = c.Progress().Rows })
	defer stop()
	result, err := c.Run(ctx)
	v.compared = added(v.compared, c.ByTable())
	if err != nil {
		return err
	}
	return verdict(result)
}

// recheck compares the rows of genes that changed since they were last compared. Without any it does nothing.
func (v *verifier) recheck(ctx context.Context, genes gene.Set, giver link.Server, atGiver, atReceiver *link.Conn, by *stream) error {
	keys := v.changed.of(genes)
	if len(keys) == 0 {
		return nil
	}
	result, err := checksum.New(checksum.Config{
		Job: v.job + "/step", Source: giver, Target: v.shards.other(giver), Tables: v.shards.tables, Parts: table.Split(genes, 1),
	}, by).Recheck(ctx, atGiver, atReceiver, keys)
	if err == nil {
		err = verdict(result)
	}
	if _, different := errors.AsType[*differencesError](err); err != nil && !different {
		v.changed.tooMany = true // those that were taken out are not compared
	}
	return err
}

// verdict is the error that a comparison ends with.
func verdict(result checksum.Result) error {
	switch {
	case len(result.Differences) > 0:
		return &differencesError{fmt.Sprintf("the servers differ in %d rows or more, such as %s", len(result.Differences), result.Differences[0])}
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
