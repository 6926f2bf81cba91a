package session

import (
	"locus/proxy/exec"
	"locus/router/catalog"
)

// runSchema runs CREATE, ALTER or DROP DATABASE on every shard.
func (s *Session) runSchema(asked *exec.Work) error {
	if err := s.conns.Commit(); err != nil {
		return err
	}
	r := s.env.Request(asked)
	if err := present(r); err != nil {
		return err
	}
	s.env.TellLeft(r.Work)
	total, err := r.ChangeSchema()
	if err != nil {
		return err
	}
	if dropped := r.Dropped(); dropped != "" && s.vars.Settings.Database() == dropped {
		s.env.Carry(s.vars.Settings.WithDatabase(""))
		s.vars.TrackSchema()
	}
	if s.defines(r.Work) {
		s.reread(catalog.Anything)
	}
	return s.done(total)
}

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
