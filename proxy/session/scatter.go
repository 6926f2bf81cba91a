package session

import (
	"time"

	"locus/proxy/exec"
	"locus/router/plan"
)

// mayRead is what goes before any read of several shards: the user's guard, and
// the time that it may take.
func (s *Session) mayRead(shards int) error {
	if err := s.mayMerge(); err != nil {
		return err
	}
	return s.account.MayScatter(shards, &s.vars.Diagnostics)
}

// mayMerge is mayRead for a user who need not be asked.
func (s *Session) mayMerge() error {
	s.Counts.Scattered.Add(1)
	if s.vars.LimitsRows() {
		return &plan.Refusal{Code: plan.ScatterShape, Message: "a read of several shards while sql_select_limit is set: SET sql_select_limit = DEFAULT, and use LIMIT"}
	}
	if limit := s.vars.TimeLimit(); limit > 0 {
		s.interrupts.Limit(time.Now().Add(limit)) // each shard has it as well, from when it begins
	}
	return nil
}

// mayReadRoute is mayRead for the shards of the route. That the rows of one gene are on two shards is no matter of the user's.
func (s *Session) mayReadRoute() error {
	if s.route.Whole() {
		return s.mayMerge()
	}
	return s.mayRead(len(s.route.Shards))
}

// mayReadAll is mayRead for a read of every shard that has genes.
func (s *Session) mayReadAll(r *exec.Work) error {
	m := r.Snapshot.Map
	return s.mayRead(len(m.ShardsOf(0, m.Width().Last(), nil)))
}

// runScatter runs a SELECT on several shards and merges their answers.
func (s *Session) runScatter(r *exec.Work, p *plan.Read) error {
	if err := s.mayReadRoute(); err != nil {
		return err
	}
	unmerged, err := s.env.Scatter(r, p, &s.route)
	if why, refused := err.(*plan.Refusal); refused && unmerged && s.changedMeanwhile(r, why) { //nolint:errorlint // it is never wrapped
		return err
	}
	if unmerged && p.Gather != nil {
		return s.gather(r, p.Gather)
	}
	return err
}
