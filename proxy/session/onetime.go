package session

import (
	"time"

	"locus/proxy/txn"
)

// oneTime has all shards take the same time for their parts of a statement that may
// put it into rows, unless the client has set one. Connections carry it like any
// setting; restore takes it from those that have joined.
func (s *Session) oneTime(r *request, parts []part) (restore func([]txn.Lease) error) {
	if !r.facts.Clock || len(parts) < 2 || s.vars.SetsTime() {
		return func([]txn.Lease) error { return nil }
	}
	now := r.at
	if now.IsZero() {
		now = time.Now()
	}
	before := s.vars.Settings
	s.vars.Settings = s.vars.WithTime(now)
	return func(leases []txn.Lease) error {
		s.vars.Settings = before
		var failure error
		for _, l := range leases {
			if !l.Branch() { // it was given up
				continue
			}
			if err := l.Carry(); err != nil {
				l.Lost()
				failure = err
			}
		}
		return failure
	}
}
