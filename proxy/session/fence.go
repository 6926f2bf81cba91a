package session

import (
	"cmp"
	"context"
	"slices"
	"time"

	"locus/idgen/gene"
	"locus/proxy/session/interrupt"
	"locus/proxy/trace"
	"locus/router/plan"
	"locus/router/stmt"
)

// Fencing is what a session needs to know while genes change hands.
type Fencing struct {
	// Changed is closed when another world comes into force than the one that was
	// when it was asked for.
	Changed func() <-chan struct{}
	// Leased is the number of the lease by which this process is known to the others
	// to be alive: 0 if it isn't, for then it may be passed over by a hand-over. Of a
	// lease that was lost the number never comes back; and the world in force is none
	// from before the lease.
	Leased func() int64
	// Hold is how long a statement is held at most.
	Hold time.Duration
	// Places is one for each statement that is held.
	Places chan struct{}
}

// heldError says that a statement was not sent, since its genes are changing
// hands: it may be planned again, or its client told.
type heldError struct{ why string }

func (e *heldError) Error() string { return e.why }

var (
	errHeld     = &heldError{"its rows' genes are changing hands"}
	errUnleased = &heldError{"this proxy has lost its lease in etcd, and the genes of its rows are on the move"}
	errOutdated = &heldError{"its rows' genes may have changed hands since it was planned"}
)

// admission is how a statement was let on. Statements that are run as parts of it
// have the same.
type admission struct {
	moving bool  // it concerns genes that are moving
	lease  int64 // then, the one by which it was admitted
}

// admit lets a statement go on that concerns these genes, or with all set every
// one, unless a step of a move holds some of them. A transaction that was under
// way on held genes before the fence may go on to its end: the fence waits for it.
func (s *Session) admit(r *request, genes []gene.Gene, all bool) error {
	m := r.world.Map
	moving := m.Moving()
	if moving.Empty() {
		return nil
	}
	r.moving = meets(moving, genes, all)
	r.fares = faring{}
	if r.moving {
		if r.lease = s.Fencing.Leased(); r.lease == 0 {
			return errUnleased
		}
		if s.World() != r.world { // it may be from before the lease
			return errOutdated
		}
	}
	if meets(m.Held(), genes, all) && !s.precedes(m.Version(), m.Held()) {
		return errHeld
	}
	s.obeyed.decide(genes, all)
	if r.moving && !all {
		r.fares.begin(m, genes)
	}
	return nil
}

// admitRoute is admit for a statement that was routed.
func (s *Session) admitRoute(r *request) error {
	s.weigh(r, s.route.Genes, s.route.Named())
	if moving := r.world.Map.Moving(); !moving.Empty() {
		return s.admit(r, s.route.Genes, !s.route.Named() && s.route.Meets(moving))
	}
	return nil
}

// concernsNone says that a statement concerns no sharded rows.
func (s *Session) concernsNone(r *request) {
	if !r.world.Map.Moving().Empty() {
		s.obeyed.decide(nil, false)
	}
}

// precedes tells whether the fence waits for the transaction that is under way.
func (s *Session) precedes(version int64, held gene.Set) bool {
	if !s.txn.running() || s.obeyed.version.Load() >= version {
		return false
	}
	return s.obeyed.listsAny(held)
}

func meets(set gene.Set, genes []gene.Gene, all bool) bool {
	if set.Empty() {
		return false
	}
	for _, g := range genes {
		all = all || set.Contains(g)
	}
	return all
}

// stillLeased is asked when a connection is there: time may have passed since the
// statement was admitted, and the connection may have been made after this proxy
// was passed over. That it has another lease now is not enough: the statement is by
// a map from before.
func (s *Session) stillLeased(r *request) error {
	if r.moving && s.Fencing.Leased() != r.lease {
		return errUnleased
	}
	return nil
}

// attempt runs a statement, again if it was held meanwhile.
func (s *Session) attempt(r *request) error {
	if s.yielded {
		s.yielded = false
		if r.plan.Statement.Kind != stmt.Rollback {
			return interrupt.Preempted.Error(s.flavor())
		}
	}
	s.vars.Commands.Count(r.plan.Statement)
	err := s.runMetered(r)
	held, ok := err.(*heldError) //nolint:errorlint // it is never wrapped
	if !ok || s.txn.lost {
		return err
	}
	select {
	case s.Fencing.Places <- struct{}{}:
		defer func() { <-s.Fencing.Places }()
	default:
		return s.deadlocked("%s, and as many statements wait as may", held.why)
	}
	return s.held(r, held)
}

// held waits for another world, and runs the statement in that.
func (s *Session) held(r *request, held *heldError) error {
	s.Counts.Held.Add(1)
	s.Counts.Holding.Add(1)
	defer s.Counts.Holding.Add(-1)
	deadline := time.NewTimer(s.Fencing.Hold)
	defer deadline.Stop()
	for {
		changed := s.Fencing.Changed()
		if s.World() == r.world {
			s.step()
			if err := s.pause(changed, deadline.C, held); err != nil {
				return err
			}
		}
		if err := s.anew(r); err != nil {
			return err
		}
		err := s.runMetered(r)
		again, ok := err.(*heldError) //nolint:errorlint // it is never wrapped
		if !ok || s.txn.lost {
			return err
		}
		held = again
	}
}

// step says that nothing goes on by the world that holds the statement, but for
// its transaction.
func (s *Session) step() {
	if !s.txn.running() {
		s.obeyed.nothing()
		return
	}
	s.obeyed.decide(nil, false)
}

// leaseLook is how often a statement is tried again that waits for the lease.
const leaseLook = 50 * time.Millisecond

func (s *Session) pause(changed <-chan struct{}, deadline <-chan time.Time, held *heldError) error {
	began := time.Now()
	defer func() { s.timing.held += time.Since(began) }()
	defer s.timing.trace.Enter(trace.Hold, "")()
	var look <-chan time.Time
	if held == errUnleased {
		timer := time.NewTimer(leaseLook)
		defer timer.Stop()
		look = timer.C
	}
	select {
	case <-changed:
	case <-look:
	case <-deadline:
		s.Counts.HeldTooLong.Add(1)
		return s.deadlocked("%s; the statement was held for %v and not run", held.why, s.Fencing.Hold)
	case <-s.interrupts.Waits().Done():
		return context.Cause(s.interrupts.Waits())
	}
	return nil
}

// anew plans a held statement for the world that has come into force.
func (s *Session) anew(r *request) error {
	before := r.world
	r.world = s.world()
	switch {
	case r.world.Catalog == before.Catalog:
		return nil
	case r.statement != nil:
		err := s.replan(r.world, r.statement)
		r.plan = r.statement.plan
		return err
	}
	if err := s.read(&s.lexed, r.payload[1:]); err != nil {
		return err
	}
	p, err := s.planOf(r.world, &s.lexed)
	s.args.Reset(&s.lexed, nil)
	r.plan = p
	return err
}

// deadlocked is MySQL's error for a transaction that lost to another one:
// applications try it again. The transaction is rolled back, as with MySQL.
func (s *Session) deadlocked(format string, args ...any) error {
	s.rollbackBranches()
	e := fail(erDeadlock, "40001", format, args...)
	e.Message += "; try restarting transaction"
	return e
}

// foreignAt gives the genes whose rows a shard may have beside its own and that
// the statement may concern. The shard must leave them out.
func (s *Session) foreignAt(r *request, shard int) (gene.Set, error) {
	foreign := r.world.Map.Foreign(shard)
	if foreign.Empty() || !s.route.Meets(foreign) {
		return gene.Set{}, nil
	}
	if r.plan.Owned == nil {
		return gene.Set{}, plan.Unowned()
	}
	return foreign, nil
}

// ownEdits adds to the edits of a scatter that a shard leaves others' rows out.
func (s *Session) ownEdits(r *request, shard int, edits []edit) ([]edit, error) {
	foreign, err := s.foreignAt(r, shard)
	if err != nil || foreign.Empty() {
		return edits, err
	}
	own := slices.Clone(edits)
	for _, splice := range r.plan.Owned.Splices(foreign) {
		at := r.values.Offset(splice.At)
		own = append(own, edit{at, at, splice.Text})
	}
	slices.SortStableFunc(own, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	return own, nil
}
