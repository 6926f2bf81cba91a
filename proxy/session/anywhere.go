package session

import (
	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/health"
	"locus/proxy/snapshot"
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
	return s.env.Anywhere(s.env.MayAnswer(r), !exec.RunsCode(r.Facts), func(shard router.ShardName) error { return s.runOn(r, shard, nil) })
}

// runAlike runs on a shard what the others would say of themselves too, if its server is not well.
func (s *Session) runAlike(r *exec.Work, p *plan.OneShard) error {
	return s.env.Anywhere(s.env.StandIns(r.Snapshot), !exec.RunsCode(r.Facts), func(shard router.ShardName) error { return s.runOn(r, shard, p.Added) })
}

// runNowhere runs a statement that no row can match: any shard gives the empty answer, in its own words.
func (s *Session) runNowhere(r *exec.Work, added []plan.Splice) error {
	if home, ok := s.conns.Home(); ok {
		return s.runOn(r, home, added)
	}
	return s.env.Anywhere(s.env.Copies(r.Snapshot), !exec.RunsCode(r.Facts), func(shard router.ShardName) error { return s.runOn(r, shard, added) })
}

// prepareAnywhere has a shard prepare a statement that has the tables.
func (s *Session) prepareAnywhere(w *snapshot.Snapshot, p plan.Plan, text string) (shard router.ShardName, there *backend.Statement, answer []byte, err error) {
	err = s.env.Anywhere(s.preparedOn(w, p), true, func(at router.ShardName) (err error) {
		shard = at
		there, answer, err = s.prepareAt(at, text)
		return err
	})
	return shard, there, answer, err
}
