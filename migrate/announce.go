package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"locus/internal/steps"
	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/router"
)

// announce writes the move into the route map and waits until every proxy obeys that map.
type announce struct {
	store    Store
	runner   string
	fleet    fleet
	patience time.Duration // limit of the wait for proxies that don't obey
}

func (a announce) do(ctx context.Context, s Snapshot) (*phase.Event, error) {
	if !s.Job.Announced(s.Map) {
		return a.publish(ctx, s)
	}
	waiting, cancel := context.WithTimeout(ctx, a.patience)
	defer cancel()
	changes, stop := listen(waiting, a.store.Acknowledgements)
	defer stop()
	_, err := a.fleet.acknowledged(waiting, s.Map.Version(), changes)
	if missing, is := errors.AsType[*steps.MissingError](err); is && ctx.Err() == nil {
		return &phase.Event{Kind: phase.FailedWith, Why: fmt.Sprintf("announce: %v, for %v", err, a.patience), Remedy: missingRemedy(missing, s.Job.ID)}, nil
	}
	if err != nil {
		return nil, err
	}
	return &phase.Event{Kind: phase.Announced}, nil
}

// publish writes a map with the move. The record changes in the same write, so the action starts again with the
// new record.
func (a announce) publish(ctx context.Context, s Snapshot) (*phase.Event, error) {
	if overlap := s.Map.Moving().Intersect(s.Job.Genes); !overlap.Empty() {
		return &phase.Event{
			Kind: phase.FailedWith, Why: fmt.Sprintf("another job moves genes %s", overlap),
			Remedy: "finish or abort that job, then locus resume " + s.Job.ID,
		}, nil
	}
	next, err := s.Map.Step(withMoves(s.Map, s.Job, s.Job.Moves()))
	if err != nil {
		return &phase.Event{Kind: phase.FailedWith, Why: err.Error(), Remedy: "abort the job with locus abort, and start it again"}, nil
	}
	noted := s.Job.Noted(a.runner, "announced in map version "+fmt.Sprint(next.Version()), time.Now())
	why := "job " + s.Job.ID + ": announced"
	if s.Job.Import != nil { // otherwise proxies would refuse tables that exist on several shards
		_, err = a.store.Declare(ctx, s, noted, next, s.Job.Single(), why)
	} else {
		_, err = a.store.Write(ctx, s, noted, next, why)
	}
	return nil, err
}

// withMoves returns the map's moves, with the given ones in place of the job's own.
func withMoves(m *router.Map, j *job.Job, moves []router.Move) []router.Move {
	return append(withoutMoves(m, j), moves...)
}

func withoutMoves(m *router.Map, j *job.Job) []router.Move {
	return slices.DeleteFunc(m.Moves(), func(v router.Move) bool {
		return slices.ContainsFunc(j.Legs(), func(l job.Leg) bool { return l.ID == v.Job })
	})
}
