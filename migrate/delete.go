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

// Limits of a deletion: rows of one statement, and gene ranges of one condition.
const (
	deletedAtOnce = 1000
	rangesAtOnce  = 64
)

// deletion deletes the rows of a job's genes on the server that no longer owns them, and the job's records on
// the servers. Then it removes the move from the map and ends the job, in one write.
type deletion struct {
	what   phase.Action // Retire deletes at the source, Withdraw at the target
	store  Store
	runner string
	legs   legs
	within time.Duration // time limit for the lock on tables outside of the cluster
	report *reporter
}

func (a deletion) do(ctx context.Context, s Snapshot) (*phase.Event, error) {
	if a.what == phase.Withdraw && !s.Job.Announced(s.Map) {
		return &phase.Event{Kind: phase.Withdrawn}, nil // the job has changed nothing yet
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

// narrow drops columns that the job added and that are no longer needed.
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

// owned returns an error unless the other server owns the rows. An import needs no check: its genes belong to
// the same shards before and after it, and its state already ensures this.
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

// leave deletes a leg's rows and its records on the servers.
func (a deletion) leave(ctx context.Context, s Snapshot, l *leg) error {
	at, name := l.shards.target, l.id
	if a.what == phase.Retire {
		at, name = l.shards.source, backJob(l.id)
	}
	// Rows of a server outside of the cluster stay, and so do rows of tables that have become global.
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

// end ends the job's record itself, because the map changes in the same write.
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

// deleteRows deletes all rows of the genes on one server. Each transaction checks the job's epoch there. So a
// process that was suspended can't continue after another process has ended the job, when the genes may have
// come back. If the server has no positions, either no row was written there, or all rows are deleted.
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

// deleteAll repeats a statement that deletes a limited number of rows until none is left.
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
