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

// health is what is known of the servers.
func (s *Session) health() *health.Snapshot {
	if s.Health == nil {
		return nil
	}
	return s.Health()
}

// runAny takes the shard that the transaction is on, or one that is well.
func (s *Session) runAny(r *exec.Work) error {
	if home, ok := s.conns.Home(); ok && !r.Facts.Metadata {
		return s.runOn(r, home, nil)
	}
	// A read that any shard can answer must not decide which one a transaction
	// is on, where it can be on one only.
	r.Outside = s.placesNothing(r.Facts)
	return s.runAnywhere(r, s.env.MayAnswer(r), !exec.RunsCode(r.Facts), nil)
}

// runAlike runs on a shard what the others would say of themselves too, if its server is not well.
func (s *Session) runAlike(r *exec.Work, p *plan.OneShard) error {
	return s.runAnywhere(r, s.env.StandIns(r.Snapshot), !exec.RunsCode(r.Facts), p.Added)
}

// runNowhere runs a statement that no row can match: any shard gives the empty answer, in its own words.
func (s *Session) runNowhere(r *exec.Work, added []plan.Splice) error {
	if home, ok := s.conns.Home(); ok {
		return s.runOn(r, home, added)
	}
	return s.runAnywhere(r, s.env.Copies(r), !exec.RunsCode(r.Facts), added)
}

// runAnywhere runs a statement on one of the shards; repeats says that it may be sent to another one after it.
func (s *Session) runAnywhere(r *exec.Work, on exec.Candidates, repeats bool, added []plan.Splice) error {
	return s.env.Anywhere(on, repeats, func(shard router.ShardName, how txn.Mode) error {
		r.Elsewhere = how
		return s.runOn(r, shard, added)
	})
}

// prepareAnywhere has a shard prepare a statement that has the tables.
func (s *Session) prepareAnywhere(w *snapshot.Snapshot, p plan.Plan, text string) (shard router.ShardName, there *backend.Statement, answer []byte, err error) {
	err = s.env.Anywhere(s.preparedOn(w, p), true, func(at router.ShardName, how txn.Mode) (err error) {
		shard = at
		there, answer, err = s.prepareAt(at, how, text)
		return err
	})
	return shard, there, answer, err
}
