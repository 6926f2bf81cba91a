package session

import "locus/idgen/gene"

// handover is what a session gives way to: the map that holds these genes.
type handover struct {
	version int64
	held    gene.Set
}

// Yield has the session give way to a hand-over of the genes: what it has under
// way on them by a map older than version is to be rolled back. A session that
// sits in a transaction does so at once; one with a command under way when that
// ends, and the caller may cancel it. It tells whether there is anything to wait
// for. It may be called from any goroutine, and again.
func (s *Session) Yield(version int64, held gene.Set) bool {
	if s.Obeys(version, held) {
		return false
	}
	s.yielding.Store(&handover{version, held})
	s.interrupts.Wake()
	return true
}

// sit waits for the client's next command. In a transaction the wait can be ended
// by Yield; then it is false, as it is with an error.
func (s *Session) sit() (bool, error) {
	if !s.txn.running() || len(s.client.Unread()) > 0 {
		return true, nil
	}
	woken, err := s.interrupts.Fill()
	if woken {
		s.yield()
		return false, nil
	}
	return err == nil, err
}

// yield rolls back what a hand-over waits for, and remembers to tell the client,
// unless it was told with the command that has just ended.
func (s *Session) yield() {
	if s.yielding.Load() == nil { // which costs nothing
		return
	}
	h := s.yielding.Swap(nil)
	if h == nil || !s.txn.running() || s.Obeys(h.version, h.held) {
		return
	}
	s.Counts.Yielded.Add(1)
	s.rollbackBranches()
	s.obeyed.nothing()
	s.yielded = !s.told
}
