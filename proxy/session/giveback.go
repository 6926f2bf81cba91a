package session

import (
	"errors"
	"slices"

	"locus/proxy/backend"
	"locus/proxy/twophase"
	"locus/router"
)

// What a statement was lent comes back by one of four ways, whatever the statement
// was: done, doneUntold, unused and lose. They alone decide whether a connection is in
// the session's transaction from then on. It is exactly as long as its server has one
// open there: a branch without one would be left out of what the session begins next,
// and end it.
//
// A connection that no transaction has comes back by giveBack or discard.

// done takes back a connection whose answer was read whole, and said this status.
func (s *Session) done(l lease, status uint16) {
	l.conn.SetStatus(status)
	switch open := l.conn.InTransaction(); {
	case s.left(l):
	case l.joined && !open:
		s.ended(l)
	case l.joined:
	case !open:
		s.giveBack(l.branch)
	case l.outside:
		s.endOutside(l)
	default:
		s.begunThere(l)
	}
}

// doneUntold takes back a connection whose answer was read whole and ended with an
// error, which doesn't say whether a transaction is open. Where that is in doubt the
// server is asked: with autocommit off, if the error may have ended the transaction,
// and if the statement may, as a procedure can before it fails.
func (s *Session) doneUntold(l lease, code uint16, mayEnd bool) {
	doubt := mayEnd || !s.pins.has(globalTransaction) && twophase.MayEndTransaction(code)
	if !l.joined {
		doubt = doubt || !s.vars.Autocommit || s.txn.running()
	}
	switch {
	case s.left(l):
	case l.joined && twophase.EndsTransaction(code) && !twophase.MayEndTransaction(code) && !s.pins.has(globalTransaction):
		s.rollbackBranches()
	case doubt:
		s.askedOpen(l)
	case !l.joined:
		s.giveBack(l.branch)
	}
}

// askedOpen asks the server whether the transaction is open.
func (s *Session) askedOpen(l lease) {
	switch _, err := l.conn.Own().Exec(s.awaiting, "DO 0"); {
	case err != nil && !refused(err):
		s.lose(l)
	case l.joined && (err != nil || !l.conn.InTransaction()):
		s.rollbackBranches() // the server has rolled back all of it there
	case err != nil:
		s.discard(l.branch)
	default:
		s.done(l, l.conn.Status())
	}
}

// left tells whether a branch has left the transaction while a statement had it: it was
// given back with the others.
func (s *Session) left(l lease) bool {
	return l.joined && !slices.ContainsFunc(s.txn.branches, func(b branch) bool { return b.conn == l.conn })
}

// unused takes back a connection that was sent nothing of the statement, and no
// opening.
func (s *Session) unused(l lease) {
	switch {
	case s.left(l):
	case l.joined && l.fresh && !s.txn.on(l.shard).opened:
		s.txn.remove(l.shard)
		s.txn.unimply()
		s.giveBack(l.branch)
	case !l.joined:
		s.giveBack(l.branch)
	}
}

// lose gives up a connection whose answer was not read to its end, and the
// transaction that had it.
func (s *Session) lose(l lease) {
	switch {
	case s.left(l):
	case l.joined:
		s.loseTransaction(l.shard)
	default:
		s.discard(l.branch)
	}
}

// begunThere takes a connection into the transaction that its server has begun on it
// by itself, since autocommit is off there. From then on it is like one that the client
// has begun: shards that join are told to begin alike.
func (s *Session) begunThere(l lease) {
	if !s.txn.running() {
		s.txn.imply(s.pins.has(lockedTables))
	}
	s.txn.add(l.branch)
}

// ended takes a branch out whose transaction the server has ended: by a statement that
// commits implicitly, or by having rolled it back after a deadlock.
func (s *Session) ended(l lease) {
	s.txn.remove(l.shard)
	s.giveBack(l.branch)
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

// endOutside ends what a read outside of the transaction has begun, with autocommit
// off: nothing of the session's is to depend on it.
func (s *Session) endOutside(l lease) {
	if _, err := l.conn.Own().Exec(s.awaiting, "COMMIT"); err != nil {
		s.discard(l.branch)
		return
	}
	s.giveBack(l.branch)
}

// loseTransaction ends the transaction after one of its connections was lost: its
// server rolls back, so the others are rolled back too.
func (s *Session) loseTransaction(shard router.ShardName) {
	s.txn.lost = true
	s.Counts.Transactions.count(len(s.txn.branches), twophase.RolledBack)
	var rest []branch
	for _, b := range s.txn.branches {
		if b.shard == shard {
			s.discard(b)
			continue
		}
		rest = append(rest, b)
	}
	s.rollback(rest)
	s.txn.end()
}

// giveBack returns a connection whose last answer was read whole, outside of a
// transaction. It stays the session's where that keeps something on it; else, what was
// left on it is the pool's to see to: whatever is sent says what it leaves.
func (s *Session) giveBack(b branch) {
	switch {
	case b.conn.InTransaction():
		s.discard(b)
	case s.pins != nil && s.keeps(b):
	case len(s.holdings) > 0 && s.keepsForCursors(b):
	case s.interrupts.Remove(b.conn):
		b.pool.Discard(b.conn)
	default:
		b.pool.Return(b.conn)
	}
}

// release gives back a connection after an error: it is good for another statement if
// the server has refused the one.
func (s *Session) release(b branch, err error) {
	if _, refused := errors.AsType[*backend.ServerError](err); refused {
		s.giveBack(b)
		return
	}
	s.discard(b)
}

// discard gives a connection up.
func (s *Session) discard(b branch) {
	s.loseCursors(b.conn)
	if s.pins != nil {
		s.losePin(b.conn)
	}
	s.interrupts.Remove(b.conn)
	b.pool.Discard(b.conn)
}
