package session

import (
	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/mirror"
	"locus/router"
)

// runMoving is runOn of a read of moving genes: its answer is hashed as it passes, and the read handed to who sends the target a
// copy, if that is to be.
func (s *Session) runMoving(r *exec.Work, shard router.ShardName) error {
	read := s.mirrored(r, shard)
	if read == nil {
		return s.runOn(r, shard, nil)
	}
	in := &mirror.Reader{Extended: read.Profile&backend.ExtendedMetadata != 0}
	s.client.Tap = in
	err := s.runOn(r, shard, nil)
	s.client.Tap = nil
	if err != nil || r.Code != 0 { // what the client is not told is nothing to compare
		return err
	}
	answer, whole := in.Answer()
	if !whole || !read.Fits() {
		s.Mirror.Skip(read.Job)
		return nil
	}
	s.Mirror.Offer(read, answer)
	return nil
}

// mirrored is the read that is mirrored; nil: this one is not. It is a view of the client's command.
func (s *Session) mirrored(r *exec.Work, shard router.ShardName) *mirror.Read {
	m, genes := r.Snapshot.Map, s.route.Genes
	if s.Mirror == nil || len(genes) == 0 || !s.route.Named() {
		return nil
	}
	move, moving := m.MoveWith(genes[0])
	if !moving || move.From != shard || !s.Mirror.Chooses(&move) || !s.repeatable(r) {
		return nil
	}
	for _, g := range genes {
		if !move.Genes.Contains(g) {
			return nil
		}
	}
	read := &mirror.Read{
		Job: move.Job, From: move.From, To: move.To, Genes: genes, Settings: s.vars.Settings.Bare(), Profile: s.env.ClientProfile, Mode: s.vars.Mode,
	}
	read.Ordered, read.Cut = mirror.Shape(r.Facts)
	if p := r.Prepared; p != nil {
		read.Prepared, read.Under, read.Mode, read.Text, read.Params = true, p.Reading.Settings, p.Reading.Mode, []byte(p.Text), r.Params
		return read
	}
	read.Text = r.Payload[1:]
	return read
}

// repeatable tells a read that a connection of nobody's answers as the session's does: outside of transactions, and with nothing
// that only the session's connection has.
func (s *Session) repeatable(r *exec.Work) bool {
	switch {
	case !mirror.Repeatable(r.Facts), r.Cursor, r.Textual != nil, r.Replica:
		return false
	case !s.vars.Autocommit, s.conns.Running(), s.conns.ReservesAny(), s.conns.Next() != "", s.vars.Shard != "":
		return false
	}
	return r.Prepared == nil || len(r.Prepared.Long) == 0 && len(r.Prepared.Added) == 0
}
