package session

import (
	"locus/proxy/exec"
	"locus/proxy/stamp"
	"locus/proxy/trace"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
)

// runSchema runs CREATE, ALTER or DROP DATABASE on every shard.
func (s *Session) runSchema(asked *request) error {
	if err := s.conns.Commit(); err != nil {
		return err
	}
	own := *asked // the one asked for stays off the heap
	if err := s.present(&own); err != nil {
		return err
	}
	s.tellLeft(&own)
	r := s.requested(&own)
	total, err := r.ChangeSchema()
	if err != nil {
		return err
	}
	if dropped := r.Dropped(); dropped != "" && s.vars.Settings.Database() == dropped {
		s.carry(s.vars.Settings.WithDatabase(""))
		s.vars.TrackSchema()
	}
	if s.defines(&own) {
		s.reread()
	}
	return s.done(total)
}

// runParts runs the parts of a statement in one transaction: the client's, which it
// begins with autocommit off, or one of its own. If a part fails, none of the parts
// remains.
func (s *Session) runParts(r *request, parts []exec.Part) (total exec.Totals, err error) {
	err = s.together(r, func() (err error) {
		total, err = s.execution(r, txn.Writes).Change(parts)
		return err
	})
	return total, err
}

// together does what a statement does on several shards in one transaction, as runParts has it.
func (s *Session) together(r *request, do func() error) error {
	s.Counts.Scattered.Add(1)
	began := !s.conns.Running() && !s.vars.Autocommit
	err := s.conns.Atomically(do)
	if err != nil && began && s.unbegun(r, err) {
		s.conns.Unbegin()
	}
	return err
}

// execution is a statement as package exec has it carried out. It has a request of its own: the one that it is made of stays off the
// heap, where a statement on one shard has it.
type execution struct {
	s *Session
	r request
}

// execution has a statement carried out on several shards.
func (s *Session) execution(r *request, m txn.Mode) exec.Several {
	_, copies := r.plan.(*plan.Global)
	return exec.Several{Of: &execution{s: s, r: *r}, Conns: s.conns, Mode: m, Clock: r.facts.Clock, Vars: &s.vars.Values, Copies: copies}
}

// Send implements exec.Statement.
func (e *execution) Send(l txn.Lease, text []byte, params []wire.Param) error {
	return e.s.send(l, &e.r, text, params)
}

// Warned implements exec.Statement.
func (e *execution) Warned(l txn.Lease) { e.s.keepWarnings(l) }

// Trace implements exec.Statement.
func (e *execution) Trace() *trace.Statement { return e.s.timing.trace }

// Part implements exec.Session.
func (e *execution) Part(p plan.Plan, v *plan.Values) exec.Several {
	r := onBehalf(&e.r, p, v)
	return e.s.execution(r, e.s.purpose(r)&^txn.Outside)
}

// Asked implements exec.Observer.
func (e *execution) Asked(shard router.ShardName) { e.s.timing.sentTo(shard) }

// Sent implements exec.Observer.
func (e *execution) Sent(l txn.Lease) { e.s.sentTo(l) }

// Stamp implements exec.Session.
func (e *execution) Stamp(p *plan.Stamped, v *plan.Values) (*stamp.Result, error) {
	result, err := e.s.stamped(onBehalf(&e.r, p, v), p)
	if err != nil {
		return nil, err
	}
	e.s.Counts.Stamped.Add(uint64(result.Generated))
	return result, nil
}

// StampCopies implements exec.Session.
func (e *execution) StampCopies(p *plan.Global, v *plan.Values) (*stamp.Result, error) {
	return e.s.stampedCopies(onBehalf(&e.r, p, v), p)
}

// requested is a request as package exec carries it out.
func (s *Session) requested(r *request) *exec.Request {
	c := &exec.Request{
		Session: &execution{s: s, r: *r}, Context: s.ctx, Conns: s.conns, Vars: &s.vars.Values, Trace: s.timing.trace,
		Facts: r.facts, Leaves: left(r.facts), Values: r.values, Map: r.snapshot.Map, Catalog: r.snapshot.Catalog, Schema: s.schemaOf(r),
	}
	if r.statement != nil {
		c.Params = append([]wire.Param{}, s.params...)
	}
	return c
}
