package session

import (
	"errors"
	"slices"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/scatter"
	"locus/proxy/sysvars"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// scattered is what goes before any read of several shards: the user's guard, and
// the time that it may take.
func (s *Session) scattered(shards int) error {
	s.Counts.Scattered.Add(1)
	if s.vars.LimitsRows() {
		return &plan.Refusal{Code: plan.ScatterShape, Message: "a read of several shards while sql_select_limit is set: SET sql_select_limit = DEFAULT, and use LIMIT"}
	}
	if err := s.mayScatter(shards); err != nil {
		return err
	}
	if limit := s.vars.TimeLimit(); limit > 0 {
		s.interrupts.Limit(time.Now().Add(limit)) // each shard has it as well, from when it begins
	}
	return nil
}

// scatteredEverywhere is scattered for a read of every shard that has genes.
func (s *Session) scatteredEverywhere(r *request) error {
	m := r.snapshot.Map
	return s.scattered(len(m.ShardsOf(0, m.Width().Last(), nil)))
}

// runScatter runs a SELECT on several shards and merges their answers, again if
// that may be done.
func (s *Session) runScatter(r *request, p *plan.Read) error {
	r.cursor = false
	if err := s.scattered(len(s.route.Shards)); err != nil {
		return err
	}
	for _, shard := range s.route.Shards {
		if _, err := s.foreignAt(r, &p.Keyed, shard); err != nil {
			return err
		}
	}
	err := s.scatterOnce(r, p)
	for again := runsAgain; again > 0 && s.mayRunAgain(r, err); again-- {
		s.Counts.Retried.Add(1)
		err = s.scatterOnce(r, p)
	}
	return err
}

func (s *Session) scatterOnce(r *request, p *plan.Read) error {
	edits, params, limit, err := s.scatterEdits(r, p.Merge)
	if err != nil {
		return err
	}
	began := !s.conns.Running()
	leases, err := s.sendAll(r, &p.Keyed, edits, params)
	if err != nil {
		return err
	}
	conns := make([]*backend.Conn, len(leases))
	for i, l := range leases {
		conns[i] = l.Conn
	}
	format := scatter.Text
	if r.statement != nil {
		format = scatter.Binary
	}
	var ended func(int, uint16)
	if t := s.timing.trace; t != nil {
		ended = func(i int, code uint16) { t.Answered(string(leases[i].Shard), 0, code) }
	}
	status := s.status()
	if !s.vars.Autocommit { // it begins a transaction, as any read does
		status |= mysql.SERVER_STATUS_IN_TRANS
	}
	outcome, err := scatter.Merge(conns, p.Merge, format, limit, scatter.Client{
		Stream: s.client, Seq: s.seq, Capabilities: s.capabilities, Status: status, Whole: s.conns.Running() || s.conns.ReservesAny(), Ended: ended,
	})
	for i, l := range leases {
		if i >= len(outcome.Clean) || !outcome.Clean[i] {
			l.Lost()
			continue
		}
		if outcome.Warnings > 0 {
			s.keepWarnings(l)
		}
		if status := outcome.Status[i]; status != 0 {
			l.Done(status)
		} else {
			l.Refused(0)
		}
	}
	s.seq, s.failed = outcome.NextSeq, outcome.Err != nil
	s.vars.RowCount = -1
	switch {
	case outcome.Err != nil:
		r.code = outcome.Err.Code
		s.noteError(outcome.Err)
		if r.snapshot.Flavor.ForgetsFoundRows() && !slices.Contains(beforeBeginning, r.code) {
			s.vars.FoundRows = 0
		}
	case err == nil:
		s.vars.FoundRows = outcome.Found
	}
	if began && s.unbegun(r, err) {
		s.conns.Unbegin()
	}
	if _, refused := err.(*plan.Refusal); refused && !outcome.Sent && p.Gather != nil { //nolint:errorlint // it is never wrapped
		return s.gather(r, p.Gather) // what the planner can't see, such as a type
	}
	return scatterError(outcome, err)
}

// scatterError sorts a merge's error: into what the client can still be told as
// an error of the statement, and what ends the session.
func scatterError(outcome scatter.Outcome, err error) error {
	if gone, ok := errors.AsType[*scatter.ClientError](err); ok {
		return &clientGone{gone}
	}
	if err != nil && outcome.Sent {
		return &partial{err}
	}
	return err
}

// sendAll sends the statement to every shard of the route before any answer is
// awaited. Nothing is sent until there is a connection to each of them. If one
// can't be sent to, those that were are given up.
func (s *Session) sendAll(r *request, k *plan.Keyed, edits []edit, params []wire.Param) ([]txn.Lease, error) {
	leases, err := s.lendAll(r)
	if err != nil {
		return nil, err
	}
	for i, l := range leases {
		own, err := s.ownEdits(r, k, s.route.Shards[i], edits)
		if err == nil {
			err = s.send(l, r, s.edited(r.values.Text, own), params)
		}
		if err == nil {
			continue
		}
		err = unsent(l, err)
		for _, sent := range leases[:i] {
			sent.Lost()
		}
		for _, idle := range leases[i+1:] {
			idle.Release()
		}
		return nil, err
	}
	return leases, nil
}

// lendAll finds a connection to every shard of the route, in the map's order, so
// that two sessions never wait for each other's.
func (s *Session) lendAll(r *request) ([]txn.Lease, error) {
	s.conns.Imply()
	shards := r.snapshot.Map.Shards()
	leases := make([]txn.Lease, 0, len(s.route.Shards))
	for _, i := range s.route.Shards {
		l, err := s.conns.Acquire(shards[i], s.purpose(r)&^txn.Outside)
		if err != nil {
			for _, idle := range leases {
				idle.Release()
			}
			return nil, err
		}
		leases = append(leases, l)
	}
	return leases, nil
}

// scatterEdits changes the text for the shards: with the hidden columns, and
// asking for all rows up to the end of the LIMIT.
func (s *Session) scatterEdits(r *request, m *plan.Merge) ([]edit, []wire.Param, scatter.Limit, error) {
	limit, edits, err := s.limits(r, m)
	if err != nil {
		return nil, nil, limit, err
	}
	if m.Hidden > 0 {
		at := r.values.Offset(m.Columns.At)
		edits = append([]edit{{at, at, m.Columns.Text}}, edits...)
	}
	var params []wire.Param
	if r.statement != nil {
		params = append(params, s.params...)
		edits = s.boundEdits(r, edits, params)
	}
	return edits, params, limit, nil
}

// edit replaces text[from:to].
type edit struct {
	from, to int
	text     string
}

func (s *Session) edited(text []byte, edits []edit) []byte {
	out, from := s.command[:0], 0
	for _, e := range edits {
		out = append(append(out, text[from:e.from]...), e.text...)
		from = e.to
	}
	s.command = append(out, text[from:]...)
	return s.command
}

// limits evaluates LIMIT and says how its numbers read for the shards.
func (s *Session) limits(r *request, m *plan.Merge) (scatter.Limit, []edit, error) {
	clause := m.Limit
	if clause == nil {
		return scatter.Limit{}, nil, nil
	}
	limit := scatter.Limit{Set: true}
	count, ok := limitNumber(r.values.Operand(clause.Count))
	if !ok {
		return limit, nil, sysvars.BadLimit()
	}
	limit.Count = count
	if clause.Offset != nil {
		if limit.Offset, ok = limitNumber(r.values.Operand(*clause.Offset)); !ok {
			return limit, nil, sysvars.BadLimit()
		}
	}
	if err := s.maySkip(limit.Offset); err != nil {
		return limit, nil, err
	}
	wanted, offset := limit.Offset+limit.Count, uint64(0)
	if wanted < limit.Count {
		wanted = 1<<64 - 1
	}
	if m.Kind == plan.Aggregated {
		wanted = 1
	}
	edits := []edit{s.number(r, clause.Count, wanted)}
	if clause.Offset != nil {
		e := s.number(r, *clause.Offset, offset)
		if e.from < edits[0].from {
			edits = []edit{e, edits[0]}
		} else {
			edits = append(edits, e)
		}
	}
	return limit, edits, nil
}

func limitNumber(v stmt.Value) (uint64, bool) {
	n, ok := v.Integer()
	if !ok || (n.Kind == stmt.Int && n.Int < 0) {
		return 0, false
	}
	return n.Bits(), true
}

// number replaces the literal of an operand.
func (s *Session) number(r *request, o stmt.Operand, n uint64) edit {
	literal := r.values.Literals[r.values.Slots[o.Slot].First]
	return edit{int(literal.Start), int(literal.End), uitoa(n)}
}

// boundEdits turns edits of placeholders into edits of the parameters.
func (s *Session) boundEdits(r *request, edits []edit, params []wire.Param) []edit {
	kept := edits[:0]
	for _, e := range edits {
		if ordinal, ok := placeholder(r.values.Lexed, e); ok {
			v, _ := limitNumber(stmt.Value{Kind: stmt.String, Text: []byte(e.text)})
			params[ordinal] = s.generatedParam(stmt.UintValue(v))
			continue
		}
		kept = append(kept, e)
	}
	return kept
}

func placeholder(l *stmt.Lexed, e edit) (int, bool) {
	for _, literal := range l.Literals {
		if int(literal.Start) == e.from && int(literal.End) == e.to && literal.Kind == stmt.ParamLiteral {
			return int(literal.Param), true
		}
	}
	return 0, false
}
