package session

import (
	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/mirror"
	"locus/router"
)

// runMoving runs a read of moving genes like runOn. If the read is to be mirrored, its answer is hashed while it is relayed. The
// read is then offered to the mirror, which sends a copy of it to the target.
func (s *Session) runMoving(r *exec.Execution, shard router.ShardName) error {
	read := s.mirrored(r, shard)
	if read == nil {
		return s.runOn(r, shard, nil)
	}
	in := &mirror.Reader{Extended: read.Profile&backend.ExtendedMetadata != 0}
	s.client.Tap = in
	err := s.runOn(r, shard, nil)
	s.client.Tap = nil
	if err != nil || r.Code != 0 { // only a complete answer is compared
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

// mirrored returns the read that is mirrored, or nil if it is not to be. The read is a view of the client's command.
func (s *Session) mirrored(r *exec.Execution, shard router.ShardName) *mirror.Read {
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
		Job: move.Job, From: move.From, To: move.To, Genes: genes, Settings: s.vars.Settings.Bare(), Profile: s.client.Profile(), Mode: s.vars.Mode,
	}
	read.Ordered, read.Cut = mirror.Shape(r.Facts)
	if p := r.Prepared; p != nil {
		read.Prepared, read.Under, read.Mode, read.Text, read.Params = true, p.Reading.Settings, p.Reading.Mode, []byte(p.Text), r.Params
		return read
	}
	read.Text = r.Payload[1:]
	return read
}

// repeatable reports whether a connection outside the session answers the read as the session's connection does. The read must be
// outside of transactions, and must use nothing that only the session's connection has.
func (s *Session) repeatable(r *exec.Execution) bool {
	switch {
	case !mirror.Repeatable(r.Facts), r.Cursor, r.Textual != nil, r.Replica:
		return false
	case !s.vars.Autocommit, s.conns.Running(), s.conns.ReservesAny(), s.conns.Next() != "", s.vars.Shard != "":
		return false
	}
	return r.Prepared == nil || len(r.Prepared.Long) == 0 && len(r.Prepared.Added) == 0
}
