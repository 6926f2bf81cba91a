package session

import (
	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/health"
	"locus/proxy/snapshot"
	"locus/proxy/txn"
	"locus/router"
	"locus/router/plan"
)

// health returns the known states of the servers, or nil if none are known.
func (s *Session) health() *health.Snapshot {
	if s.Health == nil {
		return nil
	}
	return s.Health()
}

// runAny runs a statement that every shard can answer. It runs on the shard of the transaction, or else on a healthy shard.
func (s *Session) runAny(r *exec.Execution) error {
	if home, ok := s.conns.Home(); ok && !r.Facts.Metadata {
		return s.runOn(r, home, nil)
	}
	// If a transaction may be on one shard only, a read that any shard can answer must not decide which shard that is.
	r.Outside = s.staysOutside(r.Facts)
	return s.runAnywhere(r, r.MayAnswer(), !exec.RunsCode(r.Facts), nil)
}

// runAlike runs a statement that all shards answer alike. It runs on the first shard, or on another one if that shard's server is
// not healthy.
func (s *Session) runAlike(r *exec.Execution, p *plan.OneShard) error {
	return s.runAnywhere(r, s.engine.StandIns(r.Snapshot), !exec.RunsCode(r.Facts), p.Added)
}

// runNowhere runs a statement that no row can match. The empty answer comes from the transaction's shard, or from any shard that
// has copies of the global tables.
func (s *Session) runNowhere(r *exec.Execution, added []plan.Splice) error {
	if home, ok := s.conns.Home(); ok {
		return s.runOn(r, home, added)
	}
	return s.runAnywhere(r, r.Copies(), !exec.RunsCode(r.Facts), added)
}

// runAnywhere runs a statement on one of the candidates. repeats reports that it may be sent to another shard after the first
// one.
func (s *Session) runAnywhere(r *exec.Execution, on exec.Candidates, repeats bool, added []plan.Splice) error {
	return s.engine.Anywhere(on, repeats, func(shard router.ShardName, how txn.Mode) error {
		r.Elsewhere = how
		return s.runOn(r, shard, added)
	})
}

// prepareAnywhere prepares a statement on a shard that has the tables of its plan. It returns the shard, its prepared statement,
// and its answer.
func (s *Session) prepareAnywhere(w *snapshot.Snapshot, p plan.Plan, text string) (shard router.ShardName, statement *backend.Statement, answer []byte, err error) {
	err = s.engine.Anywhere(s.preparedAmong(w, p), true, func(at router.ShardName, how txn.Mode) (err error) {
		shard = at
		statement, answer, err = s.prepareAt(at, how, text)
		return err
	})
	return shard, statement, answer, err
}
