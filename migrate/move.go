package migrate

import (
	"context"

	"locus/migrate/phase"
)

// move is what the actions of one job share: its two shards, the streams between them, the comparison, and what is watched
// while the cut-over rolls. One goroutine uses it.
type move struct {
	shards   *shards
	streams  *streams
	verifier *verifier
	monitor  *monitor
	fleet    fleet
}

func newMove(w *worker, sh *shards) *move {
	m := &move{shards: sh, fleet: fleet{w.runner.Store, w.report}}
	m.verifier = &verifier{job: w.id, shards: sh, report: w.report, fresh: w.runner.Times.Fresh}
	m.streams = &streams{job: w.id, shards: sh, ownership: w.ownership, changed: &m.verifier.changed, report: w.report}
	m.verifier.streams = m.streams
	m.monitor = &monitor{
		job: w.id, store: w.runner.Store, target: sh.target, streams: m.streams, verifier: m.verifier, report: w.report,
		times: w.runner.Times, limits: w.runner.Limits, log: w.log,
	}
	return m
}

// action does what a job's state asks for. The event that it returns is written into the job's record. Without one the record
// was changed by the action itself, or the action is to be begun again.
type action interface {
	do(ctx context.Context, s Snapshot) (*phase.Event, error)
}

// action returns what does an action of the state machine; genes is how many are the target's after a step.
func (w *worker) action(next phase.Action, genes int) action {
	m, store, name := w.move, w.runner.Store, w.runner.Name
	switch next {
	case phase.Announce:
		return announce{store: store, runner: name, fleet: m.fleet, patience: w.runner.Times.Patience}
	case phase.Copy:
		return copyRows{shards: m.shards, streams: m.streams, report: w.report}
	case phase.CatchUp:
		return catchUp{m.streams}
	case phase.Verify:
		return m.verifier
	case phase.Advance, phase.Retreat:
		return step{
			forward: next == phase.Advance, reach: genes, runner: w.runner, move: m, ownership: w.ownership, report: w.report,
		}
	case phase.Retire, phase.Withdraw:
		return deletion{what: next, store: store, runner: name, shards: m.shards, report: w.report}
	case phase.Keep:
		return keep{m.monitor, m.verifier}
	case phase.Wait, phase.Nothing:
	}
	return wait{}
}

// wait does nothing until the job changes.
type wait struct{}

func (wait) do(ctx context.Context, _ Snapshot) (*phase.Event, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
