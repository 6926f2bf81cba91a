package session

import (
	"locus/proxy/exec"
)

// runParts runs the parts of a statement in one transaction. That is the client's transaction, which runParts begins if
// autocommit is off, or else one of the statement's own. If a part fails, none of the parts takes effect.
func (s *Session) runParts(r *exec.Execution, parts []exec.Part) (total exec.Totals, err error) {
	err = s.runTogether(r, func() (err error) {
		total, err = r.Change(parts)
		return err
	})
	return total, err
}

// runTogether calls do, which runs a statement on several shards, in one transaction as runParts does.
func (s *Session) runTogether(r *exec.Execution, do func() error) error {
	s.Counts.Scattered.Add(1)
	began := !s.conns.Running() && !s.vars.Autocommit
	err := s.conns.Atomically(do)
	if err != nil && began && r.Unbegun(err) {
		s.conns.Unbegin()
	}
	return err
}
