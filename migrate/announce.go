package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/router"
)

// announce puts the move into the map, and waits until every proxy obeys that.
type announce struct {
	store    Store
	runner   string
	fleet    fleet
	patience time.Duration // with proxies that don't
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
	if disobeys, ok := errors.AsType[*disobeysError](err); ok && ctx.Err() == nil {
		return &phase.Event{Kind: phase.FailedWith, Why: fmt.Sprintf("announce: %v, for %v", err, a.patience), Remedy: disobeys.remedy(s.Job.ID)}, nil
	}
	if err != nil {
		return nil, err
	}
	return &phase.Event{Kind: phase.Announced}, nil
}

// publish writes a map with the move. The record changes with it, so that the action begins again with what is there.
func (a announce) publish(ctx context.Context, s Snapshot) (*phase.Event, error) {
	if overlap := s.Map.Moving().Intersect(s.Job.Genes); !overlap.Empty() {
		return &phase.Event{
			Kind: phase.FailedWith, Why: fmt.Sprintf("another job moves genes %s", overlap),
			Remedy: "finish or abort that job, then locus resume " + s.Job.ID,
		}, nil
	}
	next, err := s.Map.Step(withMoves(s.Map, s.Job, s.Job.Moves()))
	if err != nil {
		return &phase.Event{Kind: phase.FailedWith, Why: err.Error(), Remedy: "locus abort the job, and plan it anew"}, nil
	}
	noted := s.Job.Noted(a.runner, "announced in map version "+fmt.Sprint(next.Version()), time.Now())
	why := "job " + s.Job.ID + ": announced"
	if s.Job.Import != nil { // or else proxies would refuse tables that are on several shards
		_, err = a.store.Declare(ctx, s, noted, next, s.Job.Single(), why)
	} else {
		_, err = a.store.Write(ctx, s, noted, next, why)
	}
	return nil, err
}

// withMoves is the map's moves with some in place of a job's own, if it has any there.
func withMoves(m *router.Map, j *job.Job, moves []router.Move) []router.Move {
	return append(withoutMoves(m, j), moves...)
}

func withoutMoves(m *router.Map, j *job.Job) []router.Move {
	return slices.DeleteFunc(m.Moves(), func(v router.Move) bool {
		return slices.ContainsFunc(j.Legs(), func(l job.Leg) bool { return l.ID == v.Job })
	})
}
