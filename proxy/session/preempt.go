package session

import (
	"locus/idgen/gene"
	"locus/proxy/interrupt"
	"locus/proxy/snapshot"
	"locus/proxy/txn"
	"locus/router/catalog"
)

// Preempt has the session give way to a hand-over of the genes: what it has under
// way on them by a map older than version is rolled back. A session that waits for
// its client in a transaction does so at once; one with a command under way when
// that ends, and the caller may cancel it. It tells whether there is anything to
// wait for. It may be called from any goroutine, and again.
func (s *Session) Preempt(version int64, held gene.Set) bool {
	if !s.gate.Preempt(version, held) {
		return false
	}
	s.interrupts.Wake()
	return true
}

// PreemptAt has the session give way to a switchover: what it has under way on connections of the pool is rolled back, as by
// Preempt.
func (s *Session) PreemptAt(pool interrupt.Pool) bool {
	if !s.interrupts.At(pool) {
		return false
	}
	s.gate.PreemptWhile(func() bool { return s.interrupts.At(pool) })
	s.interrupts.Wake()
	return true
}

// Obeys tells whether nothing of the session goes on by a map older than version
// that may concern one of the genes; with an empty set, nothing at all. It may be
// called from any goroutine.
func (s *Session) Obeys(version int64, held gene.Set) bool { return s.gate.Obeys(version, held) }

// Planning gives the number of the command under way; busy says that one is which may have been planned already. A definition
// is none: it looks itself whether what it was planned by still holds. It may be called from any goroutine.
func (s *Session) Planning() (command uint64, busy bool) {
	command, busy = s.interrupts.Command()
	return command, busy && !s.defining.Load()
}

// Numbering is Planning of a command that holds numbers that are counted under one of the names. It may be called from any
// goroutine.
func (s *Session) Numbering(counted catalog.Change) (command uint64, busy bool) {
	command, _ = s.interrupts.Command()
	return command, s.held.Holds(counted)
}

// awaitCommand waits for the client's next command. In a transaction the wait can be ended
// by Preempt; then it is false, as it is with an error.
func (s *Session) awaitCommand() (bool, error) {
	if !s.conns.Running() || len(s.client.Stream.Unread()) > 0 {
		return true, nil
	}
	woken, err := s.interrupts.Fill()
	if woken {
		s.giveWay()
		return false, nil
	}
	return err == nil, err
}

// giveWay rolls back what a fence waits for.
func (s *Session) giveWay() {
	if s.gate.Preempted(s.conns.Running()) {
		s.Counts.Yielded.Add(1)
		s.conns.RollBack()
		s.gate.GaveWay()
		s.interrupts.RolledBack()
	}
}

// snapshot loads what the statement is planned against, and makes known by which
// map.
func (s *Session) snapshot() *snapshot.Snapshot {
	for {
		w := s.Snapshot()
		if s.gate.Enter(w.Map, s.conns.Running()) {
			s.obey(w)
			s.conns.At(txn.Moment{Map: w.Map, Catalog: w.Catalog})
			return w
		}
	}
}
