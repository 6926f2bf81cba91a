package migrate

import (
	"context"
	"errors"
	"fmt"

	"locus/migrate/phase"
)

// step hands over the next genes, forward or back, once it is time.
type step struct {
	forward   bool
	reach     int // how far the job's state is afterwards
	runner    *Runner
	move      *move
	ownership *ownership
	report    *reporter
}

func (a step) do(ctx context.Context, s Snapshot) (*phase.Event, error) {
	monitor, verifier := a.move.monitor, a.move.verifier
	if a.forward {
		if event, err := monitor.untilStep(ctx, s); event != nil || err != nil {
			return event, err
		}
		if s.Job.Every > 0 {
			monitor.noteUsual(ctx)
		}
		if verifier.stale() {
			return &phase.Event{Kind: phase.Differs, Why: "the last comparison is too old"}, nil
		}
	}
	if a.forward {
		if err := (views{a.runner.Store, s.Job}).make(ctx); err != nil {
			return nil, err
		}
	}
	h := a.handover(s)
	err := h.run(ctx)
	if _, different := errors.AsType[*differencesError](err); different {
		return nil, err
	}
	if err != nil && verifier.tooManyChanged() && a.forward {
		return &phase.Event{Kind: phase.Differs, Why: err.Error()}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("step to %s: %w", s.Job.Reached(a.reach), err)
	}
	monitor.stepTaken(ctx, s.Job.Every > 0)
	return &phase.Event{Kind: phase.StepTaken, Genes: a.reach}, nil
}

// handover determines which rows each leg hands over, and in which direction.
func (a step) handover(s Snapshot) *handover {
	h := &handover{
		runner: a.runner, move: a.move, ownership: a.ownership, report: a.report, read: s, reach: a.reach, forward: a.forward,
		rows: s.Job.Between(s.Job.State.Cut, a.reach),
	}
	for _, l := range a.move.legs {
		rows := h.rows.Of(l.genes)
		switch {
		case rows.Empty():
		case !a.forward && s.Job.Import.Global():
			h.passes = append(h.passes, &pass{leg: l, rows: rows, old: l.shards.target})
		case a.forward:
			h.passes = append(h.passes, &pass{leg: l, rows: rows, old: l.shards.source, stream: l.streams.forward})
		default:
			h.passes = append(h.passes, &pass{leg: l, rows: rows, old: l.shards.target, stream: l.streams.back})
		}
	}
	return h
}
