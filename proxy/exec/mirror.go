package exec

import (
	"locus/proxy/backend"
	"locus/proxy/mirror"
	"locus/router"
)

// runMoving runs a read of moving genes like runOn. If the read is to be mirrored, its answer is hashed while it is relayed. The
// read is then offered to the mirror, which sends a copy of it to the target.
func (x *Execution) runMoving(shard router.ShardName) error {
	read := x.mirrored(shard)
	if read == nil {
		return x.RunOn(shard, nil)
	}
	in := &mirror.Reader{Extended: read.Profile&backend.ExtendedMetadata != 0}
	x.Client.Tap = in
	err := x.RunOn(shard, nil)
	x.Client.Tap = nil
	if err != nil || x.Code != 0 { // only a complete answer is compared
		return err
	}
	answer, whole := in.Answer()
	if !whole || !read.Fits() {
		x.Mirror.Skip(read.Job)
		return nil
	}
	x.Mirror.Offer(read, answer)
	return nil
}

// mirrored returns the read that is mirrored, or nil if it is not to be. The read is a view of the client's command.
func (x *Execution) mirrored(shard router.ShardName) *mirror.Read {
	m, genes := x.Snapshot.Map, x.route.Genes
	if x.Mirror == nil || len(genes) == 0 || !x.route.Named() {
		return nil
	}
	move, moving := m.MoveWith(genes[0])
	if !moving || move.From != shard || !x.Mirror.Chooses(&move) || !x.repeatable() {
		return nil
	}
	for _, g := range genes {
		if !move.Genes.Contains(g) {
			return nil
		}
	}
	read := &mirror.Read{
		Job: move.Job, From: move.From, To: move.To, Genes: genes, Settings: x.Vars.Settings.Bare(), Profile: x.Client.Profile(), Mode: x.Vars.Mode,
	}
	read.Ordered, read.Cut = mirror.Shape(x.Facts)
	if p := x.Prepared; p != nil {
		read.Prepared, read.Under, read.Mode, read.Text, read.Params = true, p.Reading.Settings, p.Reading.Mode, []byte(p.Text), x.Params
		return read
	}
	read.Text = x.Payload[1:]
	return read
}

// repeatable reports whether a connection outside the session answers the read as the session's connection does. The read must be
// outside of transactions, and must use nothing that only the session's connection has.
func (x *Execution) repeatable() bool {
	switch {
	case !mirror.Repeatable(x.Facts), x.Cursor, x.Textual != nil, x.Replica:
		return false
	case !x.Vars.Autocommit, x.Conns.Running(), x.Conns.ReservesAny(), x.Conns.Next() != "", x.Vars.Shard != "":
		return false
	}
	return x.Prepared == nil || len(x.Prepared.Long) == 0 && len(x.Prepared.Added) == 0
}
