package session

import (
	"locus/idgen/gene"
	"locus/proxy/exec"
	"locus/proxy/trace"
	"locus/proxy/txn"
	"locus/router"
	"locus/router/plan"
)

// runGathered answers a statement that no shard can answer alone, and for which the answers of the shards can't be merged.
func (s *Session) runGathered(r *exec.Execution, p *plan.Gathering) error {
	if err := s.guardAll(r); err != nil {
		return err
	}
	return s.gather(r, p)
}

// gather reads the rows that a statement needs into temporary tables on one shard. That shard then answers the statement.
func (s *Session) gather(r *exec.Execution, p *plan.Gathering) error {
	return s.gatherFor(r, p, (*exec.Gathering).Answer)
}

// gatherFor reads the rows that a statement needs into temporary tables on one shard, and calls use with them.
func (s *Session) gatherFor(r *exec.Execution, p *plan.Gathering, use func(*exec.Gathering) error) error {
	r.Cursor = false
	if r.Prepared != nil && s.readsDifferently(&r.Prepared.Reading) {
		return staleReading()
	}
	defer s.observer.Trace().Enter(trace.Gather, "")()
	if err := s.mayGather(r, p); err != nil {
		return err
	}
	if err := s.refuseUnseenGenes(r, func(set gene.Set) bool { return !set.Empty() }); err != nil {
		return err
	}
	if err := s.admit(r, nil, true, nil); err != nil {
		return err
	}
	shard := s.gatherShard(r, p)
	s.Counts.Gathered.Add(1)
	most, _ := s.engine.Account.GatherLimits()
	return r.Gather(p, shard, most, func(g *exec.Gathering) error {
		s.engine.Account.Gathered(most.Rows-g.Left().Rows, most.Bytes-g.Left().Bytes, &s.vars.Diagnostics)
		return use(g)
	})
}

// mayGather returns an error if temporary tables can't be used for the statement.
func (s *Session) mayGather(r *exec.Execution, p *plan.Gathering) error {
	if p.Reopens && !r.Snapshot.Flavor.ReopensTemporary() {
		return &plan.Refusal{Code: plan.ScatterShape, Message: "a common table expression that is read more than once, over rows of several shards: MySQL can't; name one owner, ID or order number in WHERE, or write it out twice"}
	}
	if s.conns.Reserved(txn.LockedTables) || s.conns.Reserved(txn.TemporaryTable) {
		return &plan.Refusal{Code: plan.ScatterShape, Message: "a read that joins rows of several shards while this session has locked or temporary tables: end those first"}
	}
	return nil
}

// gatherShard returns the shard that runs the statement. It is the shard of the statement's single tables. Without any, it is one
// of the shards that own genes, and sessions are distributed over them.
func (s *Session) gatherShard(r *exec.Execution, p *plan.Gathering) router.ShardName {
	if shard := p.Shard; shard != "" {
		return shard
	}
	m := r.Snapshot.Map
	var c exec.Candidates
	for _, i := range m.ShardsOf(0, m.Width().Last(), nil) {
		c.Shards = append(c.Shards, m.Shard(i))
	}
	c.Chosen = int(s.id) % len(c.Shards)
	shard, _ := s.engine.Best(c, nil)
	return shard
}
