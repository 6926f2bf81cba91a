package session

import (
	"errors"
	"time"

	"locus/proxy/exec"
	"locus/proxy/fence"
	"locus/proxy/interrupt"
	"locus/proxy/reply"
	"locus/proxy/trace"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// attempt runs a statement. If a fence holds it, attempt waits for another map and runs it again.
func (s *Session) attempt(r *exec.Execution) error {
	if s.gate.TakeUnreported() && r.Facts.Statement.Kind != stmt.Rollback {
		return interrupt.Preempted.Error(s.flavor())
	}
	s.vars.Commands.Count(r.Facts.Statement)
	err := s.runRecorded(r)
	if unlike, is := err.(*plan.Refusal); is && unlike.ColumnsDiffer && r.PollUnlike(unlike) { //nolint:errorlint // it is never wrapped
		if err = s.replanHeld(r); err == nil {
			err = s.runRecorded(r)
		}
	}
	why, held := err.(*fence.HeldError) //nolint:errorlint // it is never wrapped
	if !held || s.conns.Lost() {
		return err
	}
	hold, free := s.gate.Hold()
	if !free {
		return s.engine.RollBackAsDeadlock("%v, and as many statements wait as may", why)
	}
	defer hold.End()
	s.Counts.Held.Add(1)
	s.Counts.Holding.Add(1)
	defer s.Counts.Holding.Add(-1)
	for held && !s.conns.Lost() {
		if err = s.awaitMap(hold, r.Snapshot.Map, why); err != nil {
			return err
		}
		if err = s.replanHeld(r); err != nil {
			return err
		}
		err = s.runRecorded(r)
		why, held = err.(*fence.HeldError) //nolint:errorlint // it is never wrapped
	}
	return err
}

// runRecorded runs a statement, and reports its outcome to the observer if it was on moving genes.
func (s *Session) runRecorded(r *exec.Execution) error {
	err := s.run(r)
	switch err.(type) { //nolint:errorlint // the types are never wrapped
	case *fence.HeldError, *reply.GoneError:
	default:
		s.observer.RecordMove(r.MoveOutcome, err)
	}
	return err
}

// awaitMap waits for another map than the one that held the statement.
func (s *Session) awaitMap(hold fence.Hold, m *router.Map, why *fence.HeldError) error {
	began := time.Now()
	defer func() { s.observer.Held(time.Since(began)) }()
	defer s.observer.Trace().Enter(trace.Hold, "")()
	err := hold.Wait(s.interrupts.Waits(), m, why, s.conns.Running())
	if errors.Is(err, fence.ErrTooLong) {
		s.Counts.HeldTooLong.Add(1)
		return s.engine.RollBackAsDeadlock("%v; the statement was held for %v and not run", why, hold.Limit())
	}
	return err
}

// replanHeld plans a held statement again under the snapshot that is in force now.
func (s *Session) replanHeld(r *exec.Execution) error {
	before := r.Snapshot
	r.Snapshot = s.snapshot()
	switch {
	case r.Snapshot.Catalog == before.Catalog:
		return nil
	case r.Prepared != nil:
		w, err := s.replan(r.Snapshot, r.Prepared)
		r.Snapshot = w
		r.Follow(r.Prepared.Plan)
		return err
	}
	if err := s.read(&s.lexed, r.Payload[1:]); err != nil {
		return err
	}
	p, w, err := s.planOf(r.Snapshot, &s.lexed)
	r.Snapshot = w
	s.args.Reset(&s.lexed, nil)
	if err != nil {
		return err
	}
	r.Follow(p)
	return nil
}
