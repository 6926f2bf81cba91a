package session

import (
	"locus/proxy/exec"
)

// runParts runs the parts of a statement in one transaction: the client's, which it
// begins with autocommit off, or one of its own. If a part fails, none of the parts
// remains.
func (s *Session) runParts(r *exec.Work, parts []exec.Part) (total exec.Totals, err error) {
	err = s.together(r, func() (err error) {
		total, err = s.env.Change(r, parts)
		return err
	})
	return total, err
}

// together does what a statement does on several shards in one transaction, as runParts has it.
func (s *Session) together(r *exec.Work, do func() error) error {
	s.Counts.Scattered.Add(1)
	began := !s.conns.Running() && !s.vars.Autocommit
	err := s.conns.Atomically(do)
	if err != nil && began && r.Unbegun(err) {
		s.conns.Unbegin()
	}
	return err
}
