package session

import "sync/atomic"

// obeyed is the oldest version of the route map by which something of the
// session is still under way: a statement, or a transaction that it began in.
// Zero: nothing is.
type obeyed struct{ version atomic.Int64 }

// world loads what the statement is planned against, and makes known by which
// map. The pointer is loaded again after that: whoever replaced it in between may
// have looked at this session before it said anything.
func (s *Session) world() *World {
	for {
		w := s.World()
		version := w.Map.Version()
		if before := s.obeyed.version.Load(); before == 0 || before > version || !s.txn.running() {
			s.obeyed.version.Store(version)
		}
		if s.World() == w {
			s.obey(w)
			return w
		}
	}
}

func (o *obeyed) nothing() { o.version.Store(0) }

// Obeys tells whether nothing of the session goes on by a map older than version.
// It may be called from any goroutine.
func (s *Session) Obeys(version int64) bool {
	oldest := s.obeyed.version.Load()
	return oldest == 0 || oldest >= version
}
