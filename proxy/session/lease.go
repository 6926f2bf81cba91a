package session

import (
	"locus/proxy/backend"
	"locus/router"
	"locus/router/plan"
)

// lease is a connection for one statement. One that belongs to the transaction
// stays with it afterwards.
type lease struct {
	branch
	joined bool // it is a branch of the transaction
	fresh  bool // it joined with this statement, and must be sent the opening
}

// lend finds a connection to a shard: the transaction's own, or a borrowed one.
func (s *Session) lend(shard router.ShardName, p *plan.Plan) (lease, error) {
	return s.lendSpanning(shard, p, s.Spanning)
}

func (s *Session) lendSpanning(shard router.ShardName, p *plan.Plan, spanning Spanning) (lease, error) {
	if b := s.txn.on(shard); b != nil {
		if err := b.conn.Carry(s.ctx, s.settings); err != nil {
			return lease{}, err
		}
		return lease{branch: *b, joined: true}, nil
	}
	joins := s.txn.begun && !p.Metadata
	if len(s.txn.branches) > 0 && !p.Metadata && spanning == Single {
		return lease{}, spans(s.txn.branches[0].shard, shard)
	}
	pool, ok := s.Pools.Pool(shard)
	if !ok {
		return lease{}, unregistered(shard)
	}
	conn, err := pool.Borrow(s.ctx, s.settings, s.profile)
	if err != nil {
		return lease{}, err
	}
	l := lease{branch: branch{shard, pool, conn}, joined: joins, fresh: joins}
	if joins {
		s.txn.add(l.branch)
	}
	return l, nil
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
	case open || (!known && !s.autocommit):
		s.txn.add(l.branch)
	default:
		l.pool.Return(l.conn)
	}
}

// pruned takes a branch out whose transaction the server has ended.
func (s *Session) pruned(l lease) {
	for i, b := range s.txn.branches {
		if b.shard == l.shard {
			s.txn.branches = append(s.txn.branches[:i], s.txn.branches[i+1:]...)
			break
		}
	}
	l.pool.Return(l.conn)
	if len(s.txn.branches) == 0 {
		s.txn.end()
	}
}

// abandon gives up a connection whose answer was not read to its end.
func (s *Session) abandon(l lease) {
	if l.joined {
		s.drop(l.shard)
		return
	}
	l.pool.Discard(l.conn)
}

// watched makes the connection the one that an interruption ends.
func (s *Session) watched(c *backend.Conn) func() {
	s.current.Store(c)
	if s.interrupted.Load() && s.ctx.Err() != nil {
		c.Interrupt()
	}
	return func() { s.current.Store(nil) }
}
