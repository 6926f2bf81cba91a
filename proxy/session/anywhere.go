package session

import (
	"errors"
	"slices"

	"locus/proxy/backend"
	"locus/proxy/health"
	"locus/proxy/reply"
	"locus/proxy/snapshot"
	"locus/proxy/txn"
	"locus/router"
	"locus/router/plan"
)

// candidates are the shards that could answer a statement, and which of them is to: the others stand in for it when its server
// is not well. The first of the list is the first shard.
type candidates struct {
	shards []router.ShardName
	chosen int
}

// standIns are for what names no table: the first shard is asked as long as it is well, so that what servers answer each in
// its own way, @@server_id say, stays the same. What the session has on a connection is nowhere else.
func (s *Session) standIns(w *snapshot.Snapshot) candidates {
	if s.conns.ReservesAny() {
		return candidates{shards: w.Catalog.Shards[:1]}
	}
	return candidates{shards: w.Catalog.Shards}
}

// copies are for reads of global tables, in turn between sessions. Within a transaction, which a further shard costs a part,
// the first is asked.
func (s *Session) copies(w *snapshot.Snapshot) candidates {
	switch {
	case s.conns.ReservesAny() || len(w.Copies) == 0:
		return s.standIns(w)
	case s.conns.Running() || !s.vars.Autocommit:
		return candidates{shards: w.Copies}
	}
	return s.withReplica(candidates{w.Copies, int(s.id) % len(w.Copies)})
}

// withReplica has a read that may be late go to a shard that has a replica, if any does.
func (s *Session) withReplica(c candidates) candidates {
	if !s.replica {
		return c
	}
	for i := range c.shards {
		at := (c.chosen + i) % len(c.shards)
		if _, ok := s.Pools.Replica(c.shards[at]); ok {
			return candidates{c.shards, at}
		}
	}
	return c
}

// mayAnswer are those of a statement that any shard would answer alike.
func (s *Session) mayAnswer(r *request) candidates {
	if r.facts.Metadata || len(r.facts.Statement.Tables) == 0 {
		return s.standIns(r.snapshot)
	}
	return s.copies(r.snapshot)
}

// health is what is known of the servers.
func (s *Session) health() *health.Snapshot {
	if s.Health == nil {
		return nil
	}
	return s.Health()
}

// best is the candidate that is chosen, or if its server is not well the next one that is better; of those that were tried,
// none.
func (s *Session) best(c candidates, tried []router.ShardName) (best router.ShardName, found bool) {
	known, least := s.health(), health.Well
	for i := range c.shards {
		shard := c.shards[(c.chosen+i)%len(c.shards)]
		if len(tried) > 0 && slices.Contains(tried, shard) {
			continue
		}
		if state := known.State(shard); !found || state < least {
			best, least, found = shard, state, true
		}
		if least == health.Well {
			return best, true
		}
	}
	return best, found
}

// anywhere has a shard answer that is well: the candidate that is chosen, or one that stands in for it. If one can't be asked,
// or is lost before it has answered, the next is tried; repeats says that what was sent to it may be sent to another. A server
// that is away is waited for only if no other one answers.
func (s *Session) anywhere(c candidates, repeats bool, try func(router.ShardName) error) error {
	shard, _ := s.best(c, nil)
	if len(c.shards) == 1 {
		return try(shard)
	}
	mode := txn.Soon
	if repeats {
		mode = txn.Elsewhere
	}
	err := s.trySoon(shard, mode, try)
	if err == nil {
		return nil
	}
	for tried := []router.ShardName{shard}; ; tried = append(tried, shard) {
		first := c.shards[0]
		switch {
		case shard != first && lacks(err):
			return try(first)
		case !s.passes(err, repeats):
			return err
		}
		var more bool
		if shard, more = s.best(c, tried); !more {
			return try(c.shards[c.chosen])
		}
		s.Counts.Retried.Add(1)
		if err = s.trySoon(shard, mode, try); err == nil {
			return nil
		}
	}
}

// trySoon tries a shard that isn't waited for.
func (s *Session) trySoon(shard router.ShardName, mode txn.Mode, try func(router.ShardName) error) error {
	s.soon = mode
	err := try(shard)
	s.soon = 0
	return err
}

// elsewhere are the servers' numbers for: no right to a database, no such database, no such function.
var elsewhere = []uint16{1044, 1049, 1305}

// lacks tells an error of what may be on the first shard alone: a database that nobody declared, a right.
func lacks(err error) bool {
	e, ok := errors.AsType[*backend.ServerError](err)
	return ok && !unreached(err) && slices.Contains(elsewhere, e.Code)
}

// passes tells whether another shard may be tried after an error: nothing of the session's was lost, and nothing was done.
func (s *Session) passes(err error, repeats bool) bool {
	if _, home := s.conns.Home(); home || s.conns.Lost() || s.conns.LostState() != "" || s.interrupts.Unwanted() != nil {
		return false
	}
	if _, halfway := errors.AsType[*reply.PartialError](err); halfway {
		return false
	}
	if _, exhausted := errors.AsType[*backend.ExhaustedError](err); exhausted {
		return false
	}
	_, lost := errors.AsType[*backend.LostError](err)
	return backend.NotSent(err) || repeats && lost
}

// runAny takes the shard that the transaction is on, or one that is well.
func (s *Session) runAny(r *request) error {
	if home, ok := s.conns.Home(); ok && !r.facts.Metadata {
		return s.runOn(r, home, nil)
	}
	// A read that any shard can answer must not decide which one a transaction
	// is on, where it can be on one only.
	r.outside = s.placesNothing(r.facts)
	return s.anywhere(s.mayAnswer(r), !runsCode(r.facts), func(shard router.ShardName) error { return s.runOn(r, shard, nil) })
}

// runAlike runs on a shard what the others would say of themselves too, if its server is not well.
func (s *Session) runAlike(r *request, p *plan.OneShard) error {
	return s.anywhere(s.standIns(r.snapshot), !runsCode(r.facts), func(shard router.ShardName) error { return s.runOn(r, shard, p.Added) })
}

// runNowhere runs a statement that no row can match: any shard gives the empty answer, in its own words.
func (s *Session) runNowhere(r *request, added []plan.Splice) error {
	if home, ok := s.conns.Home(); ok {
		return s.runOn(r, home, added)
	}
	return s.anywhere(s.copies(r.snapshot), !runsCode(r.facts), func(shard router.ShardName) error { return s.runOn(r, shard, added) })
}

// prepareAnywhere has a shard prepare a statement that has the tables.
func (s *Session) prepareAnywhere(w *snapshot.Snapshot, p plan.Plan, text string) (shard router.ShardName, there *backend.Statement, answer []byte, err error) {
	err = s.anywhere(s.preparedOn(w, p), true, func(at router.ShardName) (err error) {
		shard = at
		there, answer, err = s.prepareAt(at, text)
		return err
	})
	return shard, there, answer, err
}
