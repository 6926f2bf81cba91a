package session

import (
	"locus/proxy/backend"
	"locus/router"
)

// lease is a connection for one statement. One that belongs to the transaction
// stays with it afterwards.
type lease struct {
	branch
	joined  bool // it is a branch of the transaction
	fresh   bool // it comes to the transaction with this statement, and must be sent the opening
	outside bool // it takes no part in the transaction
}

// lend finds a connection to a shard: the transaction's own, or a borrowed one.
// With outside set it is a borrowed one unless the transaction is there anyway.
func (s *Session) lend(shard router.ShardName, outside bool) (lease, error) {
	return s.lendSpanning(shard, outside, s.Spanning)
}

func (s *Session) lendSpanning(shard router.ShardName, outside bool, spanning Spanning) (lease, error) {
	if err := s.interrupts.Unwanted(); err != nil {
		return lease{}, err
	}
	if b := s.txn.on(shard); b != nil {
		if err := b.conn.Carry(s.ctx, s.vars.Settings); err != nil {
			return lease{}, err
		}
		return lease{branch: *b, joined: true}, nil
	}
	if s.replica && s.pins == nil {
		if b, ok := s.borrowReplica(shard); ok {
			return lease{branch: b}, nil
		}
	}
	locked := s.pins.has(lockedTables)
	if spanning == XA && locked {
		spanning = Multi // XA START would need the locks to be given up
	}
	fresh := s.txn.running() && !outside
	joins := fresh && !locked // BEGIN too would end them: the server begins by itself there, and done sees it
	further := len(s.txn.branches) > 0 && !outside
	if further && spanning == Single {
		return lease{}, spans(s.txn.branches[0].shard, shard)
	}
	b, err := s.borrow(shard, s.vars.Settings)
	if err != nil {
		return lease{}, err
	}
	if b.xa = further && spanning == XA; b.xa {
		if err := s.span(shard); err != nil { // asked only now: one that was away is back
			s.giveBack(b)
			return lease{}, err
		}
	}
	l := lease{branch: b, joined: joins, fresh: fresh, outside: outside}
	if joins {
		s.txn.add(l.branch)
	}
	return l, nil
}

// borrow takes a connection from a shard's pool. Whoever borrows gives it back by
// one of the ways of giveback.go, and nothing else gives connections to pools.
func (s *Session) borrow(shard router.ShardName, settings *backend.Settings) (branch, error) {
	if s.pins != nil {
		if p := s.pins.on(shard); p != nil {
			return s.carryPinned(p.branch, settings)
		}
	}
	pool, ok := s.Pools.Pool(shard)
	if !ok {
		return branch{}, unregistered(shard)
	}
	conn, err := s.borrowFrom(pool, settings)
	if err != nil {
		return branch{}, err
	}
	return branch{shard: shard, pool: pool, conn: conn}, nil
}
