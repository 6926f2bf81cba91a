package migrate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"locus/migrate/checkpoint"
	"locus/migrate/job"
	"locus/migrate/link"
	"locus/migrate/phase"
	"locus/router/gene"
)

// Of a deletion: rows in one statement, and ranges of genes in one condition.
const (
	deletedAtOnce = 1000
	rangesAtOnce  = 64
)

// retire deletes the source's rows of the moved genes, and ends the move.
func (d *drive) retire(ctx context.Context, s Snapshot) (*phase.Event, error) {
	if left := s.Job.Genes.Subtract(s.Map.GenesOf(s.Job.To)); !left.Empty() {
		return nil, fmt.Errorf("genes %s are not the target's", left)
	}
	return d.end(ctx, s, d.source, phase.Retired)
}

// withdraw deletes the target's rows of the genes, and ends the move.
func (d *drive) withdraw(ctx context.Context, s Snapshot) (*phase.Event, error) {
	if _, announced := s.Map.MoveOf(d.id); announced {
		if left := s.Job.Genes.Subtract(s.Map.GenesOf(s.Job.From)); !left.Empty() {
			return nil, fmt.Errorf("genes %s are not the source's", left)
		}
		return d.end(ctx, s, d.target, phase.Withdrawn)
	}
	return &phase.Event{Kind: phase.Withdrawn}, nil // it has done nothing yet
}

// end deletes rows that aren't their server's any more, then what was written down
// of the job, and takes the move out of the map together with the record's end.
func (d *drive) end(ctx context.Context, s Snapshot, at link.Server, kind phase.Kind) (*phase.Event, error) {
	names := map[link.Server]string{d.target: d.id, d.source: backJob(d.id)}
	if err := d.deleteRows(ctx, at, names[at], s.Job.Genes, throttle(s.Job.Throttle)); err != nil {
		return nil, err
	}
	for server, name := range names {
		if err := forget(ctx, server, name); err != nil {
			return nil, err
		}
	}
	next, err := s.Map.Step(withoutMove(s.Map, d.id))
	if err != nil {
		return nil, err
	}
	j, err := s.Job.On(phase.Event{Kind: kind}, d.Name, "", time.Now())
	if err != nil {
		return nil, err
	}
	_, err = d.Store.Write(ctx, s, j, next, "job "+d.id+": "+string(kind))
	return nil, err
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
func (d *drive) deleteRows(ctx context.Context, at link.Server, name string, genes gene.Set, rest func(context.Context) error) error {
	c, err := link.Dial(ctx, at)
	if err != nil {
		return err
	}
	defer c.Close()
	epoch, begun, err := checkpoint.Raise(ctx, c, name)
	if err != nil || !begun {
		return err
	}
	for _, t := range slices.Backward(d.tables) {
		for _, where := range t.Conditions(genes, rangesAtOnce) {
			some := fmt.Sprintf("DELETE FROM %s WHERE %s LIMIT %d", t.SQL(), where, deletedAtOnce)
			for {
				var o link.Outcome
				err := checkpoint.Within(ctx, c, name, epoch, func() (err error) { o, err = c.Exec(ctx, some); return err })
				if err != nil {
					return fmt.Errorf("delete from %s: %w", t.Name, err)
				}
				d.say(func(r *job.Report) { r.RowsDeleted += int64(o.Affected) })
				if o.Affected < deletedAtOnce {
					break
				}
				if rest != nil {
					if err := rest(ctx); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}
