package session

import (
	"time"

	"locus/proxy/exec"
	"locus/router/plan"
)

// guardScatter prepares a read of several shards. It applies limitScatter, and returns an error if the user's guard refuses that
// many shards.
func (s *Session) guardScatter(shards int) error {
	if err := s.limitScatter(); err != nil {
		return err
	}
	return s.engine.Account.MayScatter(shards, &s.vars.Diagnostics)
}

// limitScatter counts a read of several shards and sets its time limit, without the user's guard. It refuses sql_select_limit.
func (s *Session) limitScatter() error {
	s.Counts.Scattered.Add(1)
	if s.vars.LimitsRows() {
		return &plan.Refusal{Code: plan.ScatterShape, Message: "a read of several shards while sql_select_limit is set: SET sql_select_limit = DEFAULT, and use LIMIT"}
	}
	if limit := s.vars.TimeLimit(); limit > 0 {
		s.interrupts.Limit(time.Now().Add(limit)) // each shard has this limit too, from the start of its part
	}
	return nil
}

// guardRoute is guardScatter for the shards of the route. The guard is not applied if the rows of one gene are on two shards.
func (s *Session) guardRoute() error {
	if s.route.Whole() {
		return s.limitScatter()
	}
	return s.guardScatter(len(s.route.Shards))
}

// guardAll is guardScatter for a read of every shard that has genes.
func (s *Session) guardAll(r *exec.Execution) error {
	m := r.Snapshot.Map
	return s.guardScatter(len(m.ShardsOf(0, m.Width().Last(), nil)))
}

// runScatter runs a SELECT on several shards and merges their answers.
func (s *Session) runScatter(r *exec.Execution, p *plan.Read) error {
	if err := s.guardRoute(); err != nil {
		return err
	}
	unmerged, err := r.Scatter(p, &s.route)
	if why, refused := err.(*plan.Refusal); refused && unmerged && s.pollUnlike(r, why) { //nolint:errorlint // it is never wrapped
		return err
	}
	if unmerged && p.Gather != nil {
		return s.gather(r, p.Gather)
	}
	return err
}
