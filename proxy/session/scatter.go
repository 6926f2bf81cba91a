package session

import (
	"errors"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/exec"
	"locus/proxy/reply"
	"locus/proxy/scatter"
	"locus/proxy/sysvars"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
)

// mayRead is what goes before any read of several shards: the user's guard, and
// the time that it may take.
func (s *Session) mayRead(shards int) error {
	s.Counts.Scattered.Add(1)
	if s.vars.LimitsRows() {
		return &plan.Refusal{Code: plan.ScatterShape, Message: "a read of several shards while sql_select_limit is set: SET sql_select_limit = DEFAULT, and use LIMIT"}
	}
	if err := s.account.MayScatter(shards, &s.vars.Diagnostics); err != nil {
		return err
	}
	if limit := s.vars.TimeLimit(); limit > 0 {
		s.interrupts.Limit(time.Now().Add(limit)) // each shard has it as well, from when it begins
	}
	return nil
}

// mayReadAll is mayRead for a read of every shard that has genes.
func (s *Session) mayReadAll(r *exec.Work) error {
	m := r.Snapshot.Map
	return s.mayRead(len(m.ShardsOf(0, m.Width().Last(), nil)))
}

// runScatter runs a SELECT on several shards and merges their answers, again if
// that may be done.
func (s *Session) runScatter(r *exec.Work, p *plan.Read) error {
	r.Cursor = false
	if err := s.mayRead(len(s.route.Shards)); err != nil {
		return err
	}
	err := s.scatterOnce(r, p)
	for again := exec.RunsAgain; again > 0 && s.env.MayRunAgain(r, err); again-- {
		s.Counts.Retried.Add(1)
		err = s.scatterOnce(r, p)
	}
	return err
}

func (s *Session) scatterOnce(r *exec.Work, p *plan.Read) error {
	limit, edits, ok := exec.ForMerge(r.Values, p.Merge)
	if !ok {
		return sysvars.BadLimit()
	}
	if err := s.account.MaySkip(limit.Offset, &s.vars.Diagnostics); err != nil {
		return err
	}
	var params []wire.Param
	format := scatter.Text
	if r.Prepared != nil {
		params, format = append(params, s.params...), scatter.Binary
		edits = exec.Bind(r.Values.Lexed, edits, params)
	}
	parts, err := exec.Routed(r.Snapshot.Map, r.Values, &s.route, &p.Keyed, s.env.Edited(r.Values.Text, edits), edits, params)
	if err != nil {
		return err
	}
	began := !s.conns.Running()
	s.conns.Imply()
	all := s.execution(r, s.env.Purpose(r)&^txn.Outside)
	var leases []txn.Lease
	if s.partial {
		leases, err = all.SendPresent(parts, &s.absent)
	} else {
		leases, err = all.Send(parts)
	}
	if err != nil {
		return err
	}
	status := s.env.Status()
	if !s.vars.Autocommit { // it begins a transaction, as any read does
		status |= mysql.SERVER_STATUS_IN_TRANS
	}
	outcome, err := all.Merge(leases, p.Merge, format, limit, scatter.Client{Stream: s.client.Stream, Seq: s.client.Seq, Capabilities: s.client.Capabilities, Status: status, Warnings: len(s.absent.Shards)})
	s.scattered(r, outcome, err)
	if began && r.Unbegun(err) {
		s.conns.Unbegin()
	}
	if _, refused := err.(*plan.Refusal); refused && !outcome.Sent && p.Gather != nil { //nolint:errorlint // it is never wrapped
		return s.gather(r, p.Gather) // what the planner can't see, such as a type
	}
	return scatterError(outcome, err)
}

// lack tells the client that the answer is without a shard's rows.
func (s *Session) lack(shard router.ShardName, err error) {
	s.vars.Warn("the rows of shard " + string(shard) + " are missing from this answer (locus_partial is on): " + err.Error())
}

// scattered notes what became of a merge.
func (s *Session) scattered(r *exec.Work, outcome scatter.Outcome, err error) {
	s.client.Seq, s.observer.Failed = outcome.NextSeq, outcome.Err != nil
	s.vars.RowCount = -1
	switch {
	case outcome.Err != nil:
		r.Code = outcome.Err.Code
		s.noteError(outcome.Err)
		if r.Snapshot.Flavor.ForgetsFoundRows() && !exec.BeforeBeginning(r.Code) {
			s.vars.FoundRows = 0
		}
	case err == nil:
		s.vars.FoundRows = outcome.Found
	}
}

// scatterError sorts a merge's error: into what the client can still be told as
// an error of the statement, and what ends the session.
func scatterError(outcome scatter.Outcome, err error) error {
	if gone, ok := errors.AsType[*scatter.ClientError](err); ok {
		return &reply.GoneError{Err: gone}
	}
	if err != nil && outcome.Sent {
		return &reply.PartialError{Err: err}
	}
	return err
}
