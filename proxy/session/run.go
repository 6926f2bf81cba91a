package session

import (
	"locus/proxy/exec"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// runOn runs a statement with insertions into its text on one shard, and relays the answer.
func (s *Session) runOn(r *exec.Execution, shard router.ShardName, added []plan.Splice) error {
	s.Counts.OneShard.Add(1)
	if err := s.endBefore(r.Facts.Statement); err != nil {
		return err
	}
	r.Outside = r.Outside || r.Facts.Metadata
	last := r.Ending()
	if s.Definitions.Redefined != nil && r.Facts.Writes && s.defines(r) {
		last = s.redefining(r, shard, last)
		if s.declaresNothing(r) {
			last = s.notingUndeclared(r, last)
		}
	}
	return r.OneShard(exec.Part{Shard: shard, Text: r.Spliced(added)}, last)
}

// endBefore ends what a statement ends before it runs: locked tables, and the transaction on all of its shards.
func (s *Session) endBefore(st *stmt.Statement) error {
	if err := s.engine.Room(st); err != nil {
		return err
	}
	if st.Kind == stmt.Lock {
		if err := s.refuseUnderReadLock(); err != nil {
			return err
		}
		if err := s.conns.UnlockTables(); err != nil {
			return err
		}
	}
	if st.Effects&stmt.Commits != 0 {
		return s.conns.Commit()
	}
	return nil
}
