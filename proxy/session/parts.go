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
func (s *Session) runSchema(asked *exec.Work) error {
	if err := s.conns.Commit(); err != nil {
		return err
	}
	own := *asked // the one asked for stays off the heap
	if err := s.present(&own); err != nil {
		return err
	}
	s.env.TellLeft(&own)
	r := s.requested(&own)
	total, err := r.ChangeSchema()
	if err != nil {
		return err
	}
	if dropped := r.Dropped(); dropped != "" && s.vars.Settings.Database() == dropped {
		s.env.Carry(s.vars.Settings.WithDatabase(""))
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
func (s *Session) runParts(r *exec.Work, parts []exec.Part) (total exec.Totals, err error) {
	err = s.together(r, func() (err error) {
		total, err = s.execution(r, txn.Writes).Change(parts)
		return err
	})
	return total, err
}

// together does what a statement does on several shards in one transaction, as runParts has it.
func (s *Session) together(r *exec.Work, do func() error) error {
	s.Counts.Scattered.Add(1)
	began := !s.conns.Running() && !s.vars.Autocommit
	err := s.conns.Atomically(do)
	if err != nil && began && r.Unbegun(err) {
		s.conns.Unbegin()
	}
	return err
}

// execution is a statement as package exec has it carried out. It has a request of its own: the one that it is made of stays off the
// heap, where a statement on one shard has it.
type execution struct {
	s *Session
	r exec.Work
}

// execution has a statement carried out on several shards.
func (s *Session) execution(r *exec.Work, m txn.Mode) exec.Several {
	_, copies := r.Plan.(*plan.Global)
	return exec.Several{Of: &execution{s: s, r: *r}, Conns: s.conns, Mode: m, Clock: r.Facts.Clock, Vars: &s.vars.Values, Copies: copies}
}

// Send implements exec.Statement.
func (e *execution) Send(l txn.Lease, text []byte, params []wire.Param) error {
	return e.s.env.Send(l, &e.r, text, params)
}

// Warned implements exec.Statement.
func (e *execution) Warned(l txn.Lease) { e.s.env.KeepWarnings(l) }

// Trace implements exec.Statement.
func (e *execution) Trace() *trace.Statement { return e.s.observer.Trace() }

// Part implements exec.Session.
func (e *execution) Part(p plan.Plan, v *plan.Values) exec.Several {
	r := e.r.Part(p, v)
	return e.s.execution(r, e.s.env.Purpose(r)&^txn.Outside)
}

// Asked implements exec.Observer.
func (e *execution) Asked(shard router.ShardName) { e.s.observer.Asked(shard) }

// Sent implements exec.Observer.
func (e *execution) Sent(l txn.Lease) { e.s.observer.Sent(l) }

// Stamp implements exec.Session.
func (e *execution) Stamp(p *plan.Stamped, v *plan.Values) (*stamp.Result, error) {
	result, err := e.s.stamped(e.r.Part(p, v), p)
	if err != nil {
		return nil, err
	}
	e.s.Counts.Stamped.Add(uint64(result.Generated))
	return result, nil
}

// StampCopies implements exec.Session.
func (e *execution) StampCopies(p *plan.Global, v *plan.Values) (*stamp.Result, error) {
	return e.s.stampedCopies(e.r.Part(p, v), p)
}

// requested is a request as package exec carries it out.
func (s *Session) requested(r *exec.Work) *exec.Request {
	c := &exec.Request{
		Session: &execution{s: s, r: *r}, Context: s.ctx, Conns: s.conns, Vars: &s.vars.Values, Trace: s.observer.Trace(),
		Facts: r.Facts, Leaves: exec.Leaves(r.Facts), Values: r.Values, Map: r.Snapshot.Map, Catalog: r.Snapshot.Catalog, Schema: s.env.Schema(r),
	}
	if r.Prepared != nil {
		c.Params = append([]wire.Param{}, s.params...)
	}
	return c
}
