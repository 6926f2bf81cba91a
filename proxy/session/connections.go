package session

import (
	"time"

	"locus/proxy/backend"
	"locus/proxy/flavor"
	"locus/proxy/session/interrupt"
	"locus/proxy/sysvars"
	"locus/proxy/trace"
	"locus/proxy/txn"
)

// environment is what the session's connections are told of it.
func (s *Session) environment() txn.Environment {
	of := neighbour{s.interrupts, s}
	return txn.Environment{ID: s.id, Context: s.ctx, Client: of, Interrupts: of, Observer: of}
}

// neighbour is the session as its connections see it.
type neighbour struct {
	*interrupt.Handle
	s *Session
}

func (n neighbour) Settings() *backend.Settings { return n.s.vars.Settings }
func (n neighbour) Profile() backend.Profile    { return n.s.profile }
func (n neighbour) Autocommit() bool            { return n.s.vars.Autocommit }
func (n neighbour) Flavor() flavor.Flavor       { return n.s.flavor() }
func (n neighbour) Waited(d time.Duration)      { n.s.timing.waited += d }
func (n neighbour) Trace() *trace.Statement     { return n.s.timing.trace }

func (n neighbour) Await(pool *backend.Pool, c *backend.Conn) error { return n.Handle.Await(pool, c) }
func (n neighbour) Remove(c *backend.Conn) (killed bool)            { return n.Handle.Remove(c) }

// Reserves shows others what is reserved.
func (n neighbour) Reserves() {
	words, thread := n.s.conns.ReservedWords(), n.s.conns.ReservedThread(n.s.Snapshot().Catalog.First())
	n.s.activity.set(func(a *activity) { a.pinned, a.kept = words, thread })
}

// purpose is what a statement's connections are acquired for.
func (s *Session) purpose(r *request) (m txn.Mode) {
	if r.outside {
		m |= txn.Outside
	}
	if s.replica {
		m |= txn.Late
		if s.vars.Reads == sysvars.OwnReplica {
			m |= txn.SeesOwn
		}
	}
	if mayWrite(r.facts) {
		m |= txn.Writes
	}
	return m | s.soon
}
