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

// Candidates contains the shards that could answer a statement, and the index of the chosen one. The others replace it when its
// server is not healthy. The first of the list is the first shard.
type Candidates struct {
	Shards []router.ShardName
	Chosen int
}

// StandIns returns the shards that may run a statement without tables. The first one is used while it is healthy, so that values
// such as @@server_id don't change. A session with state that is reserved on a connection gets the first shard alone, because no
// other shard has that state.
func (e *Engine) StandIns(now *snapshot.Snapshot) Candidates {
	if e.Conns.ReservesAny() {
		return Candidates{Shards: now.Catalog.Shards[:1]}
	}
	return Candidates{Shards: now.Catalog.Shards}
}

// copyShards returns the shards that may run a read of global tables. Sessions are distributed over them. A transaction reads on the
// first one, because an additional shard would cost it another branch.
func (x *Execution) copyShards() Candidates {
	now := x.Snapshot
	switch {
	case x.Conns.ReservesAny() || len(now.Copies) == 0:
		return x.StandIns(now)
	case x.Conns.Running() || !x.Vars.Autocommit:
		return Candidates{Shards: now.Copies}
	}
	on := Candidates{now.Copies, int(x.ID) % len(now.Copies)}
	if !x.Replica {
		return on
	}
	return x.withReplica(on)
}

// withReplica chooses a shard that has a replica, for a read that may be late. Without any, it returns c.
func (e *Engine) withReplica(c Candidates) Candidates {
	for i := range c.Shards {
		at := (c.Chosen + i) % len(c.Shards)
		if _, ok := e.Conns.Pools.Replica(c.Shards[at]); ok {
			return Candidates{c.Shards, at}
		}
	}
	return c
}

// anyShards returns the candidates for a statement that every shard would answer alike.
func (x *Execution) anyShards() Candidates {
	if x.Facts.Metadata || len(x.Facts.Statement.Tables) == 0 {
		return x.StandIns(x.Snapshot)
	}
	return x.copyShards()
}

// bestOf returns the chosen candidate, or if its server is not healthy the next one whose server is in a better state. Shards that
// were tried are excluded. found is false if none is left.
func (e *Engine) bestOf(c Candidates, tried []router.ShardName) (best router.ShardName, found bool) {
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

// Anywhere runs try on a healthy shard: the chosen candidate, or one that replaces it. If a connection to it can't be acquired, it
// tries the next one. repeats reports that the statement may be sent to a second shard. It then also tries the next one if a shard
// is lost before it has answered. It waits for a server that is down only if no other one answers. how is the mode in which try
// acquires connections.
func (e *Engine) Anywhere(c Candidates, repeats bool, try func(shard router.ShardName, how txn.Mode) error) error {
	shard, _ := e.bestOf(c, nil)
	if len(c.Shards) == 1 {
		return try(shard, 0)
	}
	soon := txn.Soon
	if repeats {
		soon = txn.Repeatable
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
		case !e.MayTryNext(err, repeats):
			return err
		}
		var more bool
		if shard, more = e.bestOf(c, tried); !more {
			return try(c.Shards[c.Chosen], 0)
		}
		e.Tally.Retried.Add(1)
		if err = try(shard, soon); err == nil {
			return nil
		}
	}
}

// otherShardCodes are the servers' error codes for: no right to a database, no such database, no such function.
var otherShardCodes = []uint16{1044, 1049, 1305}

// lacks reports whether an error is about something that may exist on the first shard alone: an undeclared database, or a right.
func lacks(err error) bool {
	e, ok := errors.AsType[*backend.ServerError](err)
	return ok && !backend.Unreached(err) && slices.Contains(otherShardCodes, e.Code)
}

// MayTryNext reports whether another shard may be tried after an error: the session has lost nothing, and the statement had no effect.
func (e *Engine) MayTryNext(err error, repeats bool) bool {
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
