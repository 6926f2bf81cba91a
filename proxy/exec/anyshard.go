package exec

import (
	"errors"
	"slices"

	"locus/proxy/backend"
	"locus/proxy/health"
	"locus/proxy/reply"
	"locus/proxy/snapshot"
	"locus/proxy/txn"
	"locus/router"
)

// Candidates are the shards that could answer a statement, and which of them is to: the others stand in for it when its server
// is not well. The first of the list is the first shard.
type Candidates struct {
	Shards []router.ShardName
	Chosen int
}

// StandIns returns the shards that may run a statement without tables. The first one is used while it is well, so that values such as
// @@server_id don't change. State that is reserved on a connection is nowhere else, so such a session has the first one alone.
func (e *Environment) StandIns(now *snapshot.Snapshot) Candidates {
	if e.Conns.ReservesAny() {
		return Candidates{Shards: now.Catalog.Shards[:1]}
	}
	return Candidates{Shards: now.Catalog.Shards}
}

// Copies are for reads of global tables, in turn between sessions. Within a transaction, which a further shard costs a part,
// the first is asked.
func (e *Environment) Copies(w *Work) Candidates {
	now := w.Snapshot
	switch {
	case e.Conns.ReservesAny() || len(now.Copies) == 0:
		return e.StandIns(now)
	case e.Conns.Running() || !e.Vars.Autocommit:
		return Candidates{Shards: now.Copies}
	}
	on := Candidates{now.Copies, int(e.ID) % len(now.Copies)}
	if !w.Replica {
		return on
	}
	return e.withReplica(on)
}

// withReplica has a read that may be late go to a shard that has a replica, if any does.
func (e *Environment) withReplica(c Candidates) Candidates {
	for i := range c.Shards {
		at := (c.Chosen + i) % len(c.Shards)
		if _, ok := e.Conns.Pools.Replica(c.Shards[at]); ok {
			return Candidates{c.Shards, at}
		}
	}
	return c
}

// MayAnswer are those of a statement that any shard would answer alike.
func (e *Environment) MayAnswer(w *Work) Candidates {
	if w.Facts.Metadata || len(w.Facts.Statement.Tables) == 0 {
		return e.StandIns(w.Snapshot)
	}
	return e.Copies(w)
}

// Best is the candidate that is chosen, or if its server is not well the next one that is better; of those that were tried,
// none.
func (e *Environment) Best(c Candidates, tried []router.ShardName) (best router.ShardName, found bool) {
	known, least := e.Health(), health.Well
	for i := range c.Shards {
		shard := c.Shards[(c.Chosen+i)%len(c.Shards)]
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
// that is away is waited for only if no other one answers. try is told how connections are to be acquired for it.
func (e *Environment) Anywhere(c Candidates, repeats bool, try func(shard router.ShardName, how txn.Mode) error) error {
	shard, _ := e.Best(c, nil)
	if len(c.Shards) == 1 {
		return try(shard, 0)
	}
	soon := txn.Soon
	if repeats {
		soon = txn.Elsewhere
	}
	err := try(shard, soon)
	if err == nil {
		return nil
	}
	for tried := []router.ShardName{shard}; ; tried = append(tried, shard) {
		first := c.Shards[0]
		switch {
		case shard != first && lacks(err):
			return try(first, 0)
		case !e.Passes(err, repeats):
			return err
		}
		var more bool
		if shard, more = e.Best(c, tried); !more {
			return try(c.Shards[c.Chosen], 0)
		}
		e.Tally.Retried.Add(1)
		if err = try(shard, soon); err == nil {
			return nil
		}
	}
}

// elsewhereCodes are the servers' numbers for: no right to a database, no such database, no such function.
var elsewhereCodes = []uint16{1044, 1049, 1305}

// lacks tells an error of what may be on the first shard alone: a database that nobody declared, a right.
func lacks(err error) bool {
	e, ok := errors.AsType[*backend.ServerError](err)
	return ok && !backend.Unreached(err) && slices.Contains(elsewhereCodes, e.Code)
}

// Passes tells whether another shard may be tried after an error: nothing of the session's was lost, and nothing was done.
func (e *Environment) Passes(err error, repeats bool) bool {
	if _, home := e.Conns.Home(); home || e.Conns.Lost() || e.Conns.LostState() != "" || e.Conns.Unwanted() != nil {
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
