package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

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
	if _, there := s.Map.MoveOf(s.Job.ID); !there {
		return a.publish(ctx, s)
	}
	waiting, cancel := context.WithTimeout(ctx, a.patience)
	defer cancel()
	changes, stop := listen(waiting, a.store)
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
	next, err := s.Map.Step(withMove(s.Map, s.Job.Move()))
	if err != nil {
		return &phase.Event{Kind: phase.FailedWith, Why: err.Error(), Remedy: "locus abort the job, and plan it anew"}, nil
	}
	noted := s.Job.Noted(a.runner, "announced in map version "+fmt.Sprint(next.Version()), time.Now())
	_, err = a.store.Write(ctx, s, noted, next, "job "+s.Job.ID+": announced")
	return nil, err
}

// withMove is the map's moves with one more, or in place of the one of its job.
func withMove(m *router.Map, v router.Move) []router.Move {
	return append(withoutMove(m, v.Job), v)
}

func withoutMove(m *router.Map, id string) []router.Move {
	return slices.DeleteFunc(m.Moves(), func(v router.Move) bool { return v.Job == id })
}
