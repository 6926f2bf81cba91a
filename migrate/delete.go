package migrate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"locus/migrate/checkpoint"
	"locus/migrate/job"
	"locus/migrate/link"
	"locus/migrate/phase"
	"locus/router"
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
	legs   legs
	within time.Duration // of a lock on tables outside of the cluster
	report *reporter
}

func (a deletion) do(ctx context.Context, s Snapshot) (*phase.Event, error) {
	if a.what == phase.Withdraw && !s.Job.Announced(s.Map) {
		return &phase.Event{Kind: phase.Withdrawn}, nil // it has done nothing yet
	}
	if a.what == phase.Retire && s.Job.Import != nil && !s.Job.Import.Global() {
		if err := (drain{a.legs, s.Job.Outside() != nil, a.within}).do(ctx); err != nil {
			return nil, err
		}
	}
	for _, l := range a.legs {
		if err := a.owned(s, l); err != nil {
			return nil, err
		}
		if err := a.leave(ctx, s, l); err != nil {
			return nil, err
		}
	}
	if a.what == phase.Withdraw {
		if err := (views{a.store, s.Job}).drop(ctx); err != nil {
			return nil, err
		}
		if err := dropMade(ctx, a.store, s.Job); err != nil {
			return nil, err
		}
	}
	if err := a.narrow(ctx, s.Job); err != nil {
		return nil, err
	}
	return nil, a.end(ctx, s)
}

// narrow drops columns that the job added, where nobody needs them any more.
func (a deletion) narrow(ctx context.Context, j *job.Job) error {
	switch {
	case j.Import == nil:
		return nil
	case a.what == phase.Withdraw:
		return narrow(ctx, a.store, j, maps.Keys(j.Import.Widened))
	case j.Outside() != nil && j.Import.Widened[j.From] != nil:
		return narrow(ctx, a.store, j, slices.Values([]router.ShardName{j.From}))
	}
	return nil
}

// owned makes sure that the rows are the other server's. Of an import its state says so, as no event leads here otherwise: the
// genes are the shard's before and after.
func (a deletion) owned(s Snapshot, l *leg) error {
	if s.Job.Import != nil {
		return nil
	}
	if move, there := s.Map.MoveOf(l.id); there && move.Divides() {
		return fmt.Errorf("genes %s are divided: %s owns %d %% of their rows", move.Genes, move.To, move.Share)
	}
	if a.what == phase.Retire {
		if left := l.genes.Subtract(s.Map.GenesOf(l.to)); !left.Empty() {
			return fmt.Errorf("genes %s are not the target's", left)
		}
		return nil
	}
	if left := l.genes.Subtract(s.Map.GenesOf(s.Job.From)); !left.Empty() {
		return fmt.Errorf("genes %s are not the source's", left)
	}
	return nil
}

// leave deletes a leg's rows and what was written down of it.
func (a deletion) leave(ctx context.Context, s Snapshot, l *leg) error {
	at, name := l.shards.target, l.id
	if a.what == phase.Retire {
		at, name = l.shards.source, backJob(l.id)
	}
	// Of a server that is none of ours nothing is deleted, nor of tables that are global by now.
	if a.what == phase.Withdraw || s.Job.Outside() == nil && !s.Job.Import.Global() {
		if err := a.deleteRows(ctx, at, name, l, throttle(s.Job.Throttle)); err != nil {
			return err
		}
	}
	for server, name := range map[link.Server]string{l.shards.target: l.id, l.shards.source: backJob(l.id)} {
		if err := forget(ctx, server, name); err != nil {
			return err
		}
	}
	return nil
}

// end writes the record's end itself: the map changes with it.
func (a deletion) end(ctx context.Context, s Snapshot) error {
	kind := phase.Retired
	if a.what == phase.Withdraw {
		kind = phase.Withdrawn
	}
	id := s.Job.ID
	next, err := s.Map.Step(withoutMoves(s.Map, s.Job))
	if err != nil {
		return err
	}
	j, err := s.Job.On(phase.Event{Kind: kind}, a.runner, "", time.Now())
	if err != nil {
		return err
	}
	why := "job " + id + ": " + string(kind)
	if a.what == phase.Withdraw && j.Import != nil {
		_, err = a.store.Declare(ctx, s, j, next, j.Former(), why)
	} else {
		_, err = a.store.Write(ctx, s, j, next, why)
	}
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
func (a deletion) deleteRows(ctx context.Context, at link.Server, name string, l *leg, rest func(context.Context) error) error {
	c, err := link.Dial(ctx, at)
	if err != nil {
		return err
	}
	defer c.Close()
	epoch, begun, err := checkpoint.Raise(ctx, c, name)
	if err != nil || !begun {
		return err
	}
	for _, t := range slices.Backward(l.shards.tables) {
		for _, where := range t.Conditions(l.genes, rangesAtOnce) {
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
