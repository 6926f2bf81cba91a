package session

import (
	"locus/idgen/gene"
	"locus/proxy/interrupt"
	"locus/proxy/snapshot"
	"locus/proxy/txn"
	"locus/router/catalog"
)

// Preempt makes the session give way to a hand-over of the genes. What it runs on them under a map older than version is rolled
// back. A session that waits for its client within a transaction rolls back at once. A session with a running command rolls back
// when the command ends, and the caller may cancel the command. Preempt reports whether there is anything to wait for. It is safe
// for concurrent use, and may be called repeatedly.
func (s *Session) Preempt(version int64, held gene.Set) bool {
	if !s.gate.Preempt(version, held) {
		return false
	}
	s.interrupts.Wake()
	return true
}

// PreemptAt makes the session give way to a switchover, like Preempt. Its work on connections of the pool is rolled back.
func (s *Session) PreemptAt(pool interrupt.Pool) bool {
	if !s.interrupts.UsesPool(pool) {
		return false
	}
	s.gate.PreemptWhile(func() bool { return s.interrupts.UsesPool(pool) })
	s.interrupts.Wake()
	return true
}

// Obeys reports whether nothing of the session that may concern one of the genes runs under a map older than version. With an
// empty set, it considers everything that the session runs. It is safe for concurrent use.
func (s *Session) Obeys(version int64, held gene.Set) bool { return s.gate.Obeys(version, held) }

// Planning returns the number of the current or last command. busy reports whether a command is running that may have been
// planned already. It is false for a definition, which itself checks whether the basis of its plan is still valid. Planning is
// safe for concurrent use.
func (s *Session) Planning() (command uint64, busy bool) {
	command, busy = s.interrupts.Command()
	return command, busy && !s.defining.Load()
}

// Numbering is Planning for a command that holds numbers that are counted under one of the names. It is safe for concurrent use.
func (s *Session) Numbering(counted catalog.Change) (command uint64, busy bool) {
	command, _ = s.interrupts.Command()
	return command, s.held.Holds(counted)
}

// awaitCommand waits for the client's next command if a transaction is open, because Preempt can end that wait. It returns true
// if the session may read the command. It returns false if Preempt ended the wait, or after an error.
func (s *Session) awaitCommand() (bool, error) {
	if !s.conns.Running() || len(s.client.Stream.Unread()) > 0 {
		return true, nil
	}
	woken, err := s.interrupts.Fill()
	if woken {
		s.yieldIfPreempted()
		return false, nil
	}
	return err == nil, err
}

// yieldIfPreempted rolls back the transaction if a fence or a switchover waits for it.
func (s *Session) yieldIfPreempted() {
	if s.gate.Preempted(s.conns.Running()) {
		s.Counts.Yielded.Add(1)
		s.conns.RollBack()
		s.gate.RolledBack()
		s.interrupts.RolledBack()
	}
}

// snapshot returns the snapshot under which the statement is planned, and records its map for fences.
func (s *Session) snapshot() *snapshot.Snapshot {
	for {
		w := s.Snapshot()
		if s.gate.Enter(w.Map, s.conns.Running()) {
			s.refreshAccount(w)
			s.conns.SetMoment(txn.Moment{Map: w.Map, Catalog: w.Catalog})
			return w
		}
	}
}
