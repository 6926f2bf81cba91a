package migrate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"locus/idgen/gene"
	"locus/migrate/checkpoint"
	"locus/migrate/job"
	"locus/migrate/link"
	"locus/migrate/phase"
)

// Of a deletion: rows in one statement, and ranges of genes in one condition.
const (
	deletedAtOnce = 1000
	rangesAtOnce  = 64
)

// deletion deletes the rows of a job's genes on the server whose they aren't any more, then what was written down of the job,
// and takes the move out of the map together with the record's end.
type deletion struct {
	what   phase.Action // Retire: at the source; Withdraw: at the target
	store  Store
	runner string
	shards *shards
	report *reporter
}

func (a deletion) do(ctx context.Context, s Snapshot) (*phase.Event, error) {
	if a.what == phase.Retire {
		if left := s.Job.Genes.Subtract(s.Map.GenesOf(s.Job.To)); !left.Empty() {
			return nil, fmt.Errorf("genes %s are not the target's", left)
		}
		return nil, a.end(ctx, s, a.shards.source, phase.Retired)
	}
	if _, announced := s.Map.MoveOf(s.Job.ID); !announced {
		return &phase.Event{Kind: phase.Withdrawn}, nil // it has done nothing yet
	}
	if left := s.Job.Genes.Subtract(s.Map.GenesOf(s.Job.From)); !left.Empty() {
		return nil, fmt.Errorf("genes %s are not the source's", left)
	}
	return nil, a.end(ctx, s, a.shards.target, phase.Withdrawn)
}

// end writes the record's end itself: the map changes with it.
func (a deletion) end(ctx context.Context, s Snapshot, at link.Server, kind phase.Kind) error {
	id := s.Job.ID
	names := map[link.Server]string{a.shards.target: id, a.shards.source: backJob(id)}
	if err := a.deleteRows(ctx, at, names[at], s.Job.Genes, throttle(s.Job.Throttle)); err != nil {
		return err
	}
	for server, name := range names {
		if err := forget(ctx, server, name); err != nil {
			return err
		}
	}
	next, err := s.Map.Step(withoutMove(s.Map, id))
	if err != nil {
		return err
	}
	j, err := s.Job.On(phase.Event{Kind: kind}, a.runner, "", time.Now())
	if err != nil {
		return err
	}
	_, err = a.store.Write(ctx, s, j, next, "job "+id+": "+string(kind))
	return err
}

func forget(ctx context.Context, at link.Server, name string) error {
	c, err := link.Dial(ctx, at)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, n := range []string{name, name + "/verify"} {
		if err := checkpoint.Forget(ctx, c, n); err != nil {
			return err
		}
	}
	return nil
}

// deleteRows deletes all rows of the genes on one server, under the positions that
// the job has there: a process that was stopped in the middle must not go on once
// another one has ended the job, and the genes perhaps came back. Without positions
// no row was written there, or all are deleted.
func (a deletion) deleteRows(ctx context.Context, at link.Server, name string, genes gene.Set, rest func(context.Context) error) error {
	c, err := link.Dial(ctx, at)
	if err != nil {
		return err
	}
	defer c.Close()
	epoch, begun, err := checkpoint.Raise(ctx, c, name)
	if err != nil || !begun {
		return err
	}
	for _, t := range slices.Backward(a.shards.tables) {
		for _, where := range t.Conditions(genes, rangesAtOnce) {
			some := fmt.Sprintf("DELETE FROM %s WHERE %s LIMIT %d", t.SQL(), where, deletedAtOnce)
			within := func(do func() error) error { return checkpoint.Within(ctx, c, name, epoch, do) }
			if err := a.deleteAll(ctx, c, some, within, rest); err != nil {
				return fmt.Errorf("delete from %s: %w", t.Name, err)
			}
		}
	}
	return nil
}

// deleteAll repeats a statement that deletes some rows until it finds no more.
func (a deletion) deleteAll(ctx context.Context, c *link.Conn, some string, within func(func() error) error, rest func(context.Context) error) error {
	for {
		var o link.Outcome
		if err := within(func() (err error) { o, err = c.Exec(ctx, some); return err }); err != nil {
			return err
		}
		a.report.update(func(r *job.Report) { r.RowsDeleted += int64(o.Affected) })
		if o.Affected < deletedAtOnce {
			return nil
		}
		if rest == nil {
			continue
		}
		if err := rest(ctx); err != nil {
			return err
		}
	}
}
