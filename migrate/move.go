package migrate

import (
	"context"

	"locus/migrate/audit"
	"locus/migrate/job"
	"locus/migrate/phase"
)

// move holds what the actions of one job share: its legs with their streams, the comparison, and the monitor of
// a rolling cut-over. One goroutine uses it.
type move struct {
	legs     legs
	owners   *owners // for an import; otherwise nil
	verifier *verifier
	monitor  *monitor
	fleet    fleet
}

// allSpace bounds the memory of rows that wait in all streams of one direction. Each stream gets at least
// leastSpace.
const (
	allSpace   = 48 << 20
	leastSpace = 8 << 20
)

func newMove(w *worker, j *job.Job, of []*shards, homes audit.Homes) *move {
	m := &move{fleet: fleet{w.runner.Store, w.report}}
	if j.Import != nil {
		m.owners = &owners{filler: newFiller(of[0].source, of[0].tables, w.log), homes: homes, here: of[0].source}
	}
	for i, l := range j.Legs() {
		space := max(allSpace/len(of), leastSpace)
		one := &leg{id: l.ID, to: l.To, genes: l.Genes, shards: of[i]}
		one.streams = &streams{job: l.ID, shards: of[i], ownership: w.ownership, owners: m.owners, space: space, changed: &one.changed}
		if j.BySequence {
			one.streams.sweeper = &sweeper{w.runner.Store, w.log}
		}
		m.legs = append(m.legs, one)
	}
	m.verifier = &verifier{legs: m.legs, owners: m.owners, report: w.report, fresh: w.runner.Times.Fresh, log: w.log}
	m.monitor = &monitor{
		job: w.id, store: w.runner.Store, target: of[0].target, legs: m.legs, verifier: m.verifier, report: w.report,
		times: w.runner.Times, limits: w.runner.Limits, log: w.log,
	}
	return m
}

// keep starts the parts that the job's state requires, and stops the others.
func (m *move) keep(ctx context.Context, s Snapshot) error {
	if err := m.legs.keep(ctx, s); err != nil {
		return err
	}
	if m.owners != nil {
		forward, _ := s.Job.Streams()
		m.owners.filler.keep(ctx, forward)
	}
	return nil
}

func (m *move) stop() {
	m.legs.stop()
	if m.owners != nil {
		m.owners.filler.stop()
	}
}

// action performs an action that a job's state requires. The worker writes the returned event into the job's
// record. Without an event, the action has changed the record itself, or must start again.
type action interface {
	do(ctx context.Context, s Snapshot) (*phase.Event, error)
}

// action returns the implementation of an action of the state machine. genes is the number of genes that the
// target owns after a step.
func (w *worker) action(next phase.Action, genes int) action {
	m, store, name := w.move, w.runner.Store, w.runner.Name
	switch next {
	case phase.Announce:
		return announce{store: store, runner: name, fleet: m.fleet, patience: w.runner.Times.Patience}
	case phase.Copy:
		return copyRows{legs: m.legs, report: w.report}
	case phase.CatchUp:
		return catchUp{m.legs}
	case phase.Verify:
		return m.verifier
	case phase.Advance, phase.Retreat:
		return step{
			forward: next == phase.Advance, reach: genes, runner: w.runner, move: m, ownership: w.ownership, report: w.report,
		}
	case phase.Retire, phase.Withdraw:
		return deletion{what: next, store: store, runner: name, legs: m.legs, within: w.runner.Times.Within, report: w.report}
	case phase.Repair:
		return repairs{store: store, legs: m.legs, stop: w.runner.Stop}
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
