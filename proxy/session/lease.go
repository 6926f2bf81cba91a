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
	fresh   bool // it joined with this statement, and must be sent the opening
	outside bool // it takes no part in the transaction
}

// lend finds a connection to a shard: the transaction's own, or a borrowed one.
// With outside set it is a borrowed one unless the transaction is there anyway.
func (s *Session) lend(shard router.ShardName, outside bool) (lease, error) {
	return s.lendSpanning(shard, outside, s.Spanning)
}

func (s *Session) lendSpanning(shard router.ShardName, outside bool, spanning Spanning) (lease, error) {
	if err := s.unwanted(); err != nil {
		return lease{}, err
	}
	if b := s.txn.on(shard); b != nil {
		if err := b.conn.Carry(s.ctx, s.settings); err != nil {
			return lease{}, err
		}
		return lease{branch: *b, joined: true}, nil
	}
	if s.replica && s.pins == nil {
		if b, ok := s.borrowReplica(shard); ok {
			return lease{branch: b}, nil
		}
	}
	if spanning == XA && s.pins.has(lockedTables) {
		spanning = Multi // XA START would need the locks to be given up
	}
	joins := s.txn.begun && !outside
	further := len(s.txn.branches) > 0 && !outside
	if further && spanning == Single {
		return lease{}, spans(s.txn.branches[0].shard, shard)
	}
	b, err := s.borrow(shard, s.settings)
	if err != nil {
		return lease{}, err
	}
	if b.xa = further && spanning == XA; b.xa {
		if err := s.span(shard); err != nil { // asked only now: one that was away is back
			s.handBack(b)
			return lease{}, err
		}
		joins = true // with autocommit off, too: the server would begin another kind
	}
	l := lease{branch: b, joined: joins, fresh: joins, outside: outside}
	if joins {
		s.txn.add(l.branch)
	}
	return l, nil
}

// borrow takes a connection from a shard's pool. Whoever borrows hands back by
// handBack or discard, and nothing else gives connections to pools.
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

// handBack returns a connection whose last answer was read whole. What was left on
// it is the pool's to see to: whatever is sent says what it leaves.
func (s *Session) handBack(b branch) {
	if s.pins != nil && s.keeps(b) {
		return
	}
	if len(s.holdings) > 0 && s.keepsForCursors(b) {
		return
	}
	if s.awaited.remove(b.conn) {
		b.pool.Discard(b.conn)
		return
	}
	b.pool.Return(b.conn)
}

// discard gives a connection up.
func (s *Session) discard(b branch) {
	s.loseCursors(b.conn)
	if s.pins != nil {
		s.losePin(b.conn)
	}
	s.awaited.remove(b.conn)
	b.pool.Discard(b.conn)
}

// settle gives a connection back, or keeps it, by what its answer said.
func (s *Session) settle(l lease, status uint16, known bool) {
	if known {
		l.conn.SetStatus(status)
	}
	open := l.conn.InTransaction()
	switch {
	case l.joined && known && !open:
		// The server ended the transaction: by a statement that commits
		// implicitly, or by having rolled it back after a deadlock.
		s.pruned(l)
	case l.joined:
	case open && l.outside && s.Spanning == XA:
		s.endOutside(l)
	case open || (!known && !s.autocommit):
		s.txn.add(l.branch)
	default:
		s.handBack(l.branch)
	}
}

// endOutside ends what a read outside of the transaction has begun, with
// autocommit off: as a branch it would be none that can be prepared.
func (s *Session) endOutside(l lease) {
	if _, err := l.conn.Own().Exec(s.awaiting, "COMMIT"); err != nil {
		s.discard(l.branch)
		return
	}
	s.handBack(l.branch)
}

// pruned takes a branch out whose transaction the server has ended.
func (s *Session) pruned(l lease) {
	for i, b := range s.txn.branches {
		if b.shard == l.shard {
			s.txn.branches = append(s.txn.branches[:i], s.txn.branches[i+1:]...)
			break
		}
	}
	s.handBack(l.branch)
	switch {
	case len(s.txn.branches) == 0:
		s.txn.end()
	case s.Spanning == XA:
		// Whether it was committed there isn't known, and so not what to do with the
		// rest: see [stmt.MayEnd].
		s.Log.Error("a statement ended a transaction of several shards on one of them", "session", s.id, "shard", string(l.shard))
		s.rollbackBranches()
		s.txn.lost = true
	}
}

// abandon gives up a connection whose answer was not read to its end.
func (s *Session) abandon(l lease) {
	if l.joined {
		s.drop(l.shard)
		return
	}
	s.discard(l.branch)
}
