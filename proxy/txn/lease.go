package txn

import (
	"slices"

	"locus/proxy/twophase"
	"locus/router"
)

// Lease is a connection for one statement. It ends by one of Done, Refused, Fail, Lost,
// Unsent and Release, which decide whether the connection is a branch of the session's
// transaction from then on. It is a value: copies of it are the same lease.
type Lease struct {
	of *Connections
	branch
	mode   Mode
	joined bool // it is a branch of the transaction
	fresh  bool // it comes to the transaction with this statement, and must be sent the opening
}

// Joined tells whether the connection is a branch of the transaction.
func (l Lease) Joined() bool { return l.joined }

// Fresh tells whether it joins with this statement.
func (l Lease) Fresh() bool { return l.fresh }

// Stale reports whether the server is the last known primary, which etcd does not confirm.
func (l Lease) Stale() bool { return l.stale }

// CountStale counts a read there.
func (l Lease) CountStale() {
	if pool, ok := l.of.Pools.Pool(l.Shard); ok {
		pool.CountStale()
	}
}

// Outside tells whether the statement takes no part in the transaction.
func (l Lease) Outside() bool { return l.mode&Outside != 0 }

// Branch tells whether the connection is one of the transaction's now.
func (l Lease) Branch() bool {
	return slices.ContainsFunc(l.of.branches, func(b branch) bool { return b.Conn == l.Conn })
}

// left tells whether the branch has left the transaction meanwhile: it was given back with
// the others.
func (l Lease) left() bool { return l.joined && !l.Branch() }

// Done ends a lease whose answer was read whole, and said this status.
func (l Lease) Done(status uint16) {
	c := l.of
	if c.reading && l.joined {
		return // it is rolled back with the others
	}
	l.Conn.SetStatus(status)
	switch open := l.Conn.InTransaction(); {
	case l.left():
	case l.joined && !open:
		c.ended(l)
	case l.joined:
	case !open:
		c.giveBack(l.branch)
	case l.Outside():
		c.endOutside(l)
	default:
		c.begunThere(l)
	}
}

// Refused ends a lease whose answer was read whole and was an error of this number, which
// doesn't say whether a transaction is open; 0: its number isn't known. Where that is in
// doubt the server is asked: with autocommit off, if the error may have ended the
// transaction, and if the statement may, as a procedure can before it fails.
func (l Lease) Refused(code uint16) {
	c := l.of
	if c.reading && l.joined {
		return
	}
	global := c.Reserved(GlobalTransaction)
	doubt := code == 0 || l.mode&MayEnd != 0 || !global && twophase.MayEndTransaction(code)
	if !l.joined {
		doubt = doubt || !c.client.Autocommit() || c.Running()
	}
	switch {
	case l.left():
	case l.joined && twophase.EndsTransaction(code) && !twophase.MayEndTransaction(code) && !global:
		c.RollBack()
	case doubt:
		c.askOpen(l)
	case !l.joined:
		c.giveBack(l.branch)
	}
}

// askOpen asks the server whether the transaction is open.
func (c *Connections) askOpen(l Lease) {
	switch _, err := l.Conn.Own().Exec(c.awaiting, "DO 0"); {
	case err != nil && !IsRefusal(err):
		l.Lost()
	case l.joined && (err != nil || !l.Conn.InTransaction()):
		c.RollBack() // the server has rolled back all of it there
	case err != nil:
		c.discard(l.branch)
	default:
		l.Done(l.Conn.Status())
	}
}

// Fail ends a lease by an error of its statement: one that the server gave, and its answer
// was read whole, or another, and it was not.
func (l Lease) Fail(err error) {
	if e, ok := refusal(err); ok {
		l.Refused(e.Code)
		return
	}
	l.Lost()
}

// Lost gives up a connection whose answer was not read to its end, and the transaction
// that had it.
func (l Lease) Lost() {
	c := l.of
	switch {
	case c.reading && l.joined:
		_ = l.Conn.Lost(true, ErrUnread) // it ends with the others
	case l.left():
	case l.Branch():
		c.loseTransaction(l.Shard)
	default:
		c.discard(l.branch)
	}
}

// Unsent ends a lease on which a statement could not be sent. What a server has refused
// is its PREPARE: neither the statement nor an opening has left.
func (l Lease) Unsent(err error) {
	if IsRefusal(err) {
		l.Release()
	} else {
		l.Lost()
	}
}

// Release ends a lease that was sent nothing of the statement, and no opening.
func (l Lease) Release() {
	c := l.of
	switch {
	case l.left(), c.reading && l.joined:
	case l.joined && l.fresh && !c.on(l.Shard).opened:
		c.remove(l.Shard)
		c.unimply()
		c.giveBack(l.branch)
	case !l.joined:
		c.giveBack(l.branch)
	}
}

// begunThere takes a connection into the transaction that its server has begun on it
// by itself, since autocommit is off there. From then on it is like one that the client
// has begun: shards that join are told to begin alike.
func (c *Connections) begunThere(l Lease) {
	if !c.Running() {
		c.imply(c.Reserved(LockedTables))
	}
	c.add(l.branch)
}

// ended takes a branch out whose transaction the server has ended: by a statement that
// commits implicitly, or by having rolled it back after a deadlock.
func (c *Connections) ended(l Lease) {
	c.remove(l.Shard)
	c.giveBack(l.branch)
	switch {
	case len(c.branches) == 0:
		c.end()
	case c.Spanning == XA:
		// Whether it was committed there isn't known, and so not what to do with the
		// rest: see [stmt.MayEnd].
		c.Log.Error("a statement ended a transaction of several shards on one of them", "session", c.id, "shard", string(l.Shard))
		c.RollBack()
		c.lost = true
	}
}

// endOutside ends what a read outside of the transaction has begun, with autocommit
// off: nothing of the session's is to depend on it.
func (c *Connections) endOutside(l Lease) {
	if _, err := l.Conn.Own().Exec(c.awaiting, "COMMIT"); err != nil {
		c.discard(l.branch)
		return
	}
	c.giveBack(l.branch)
}

// loseTransaction ends the transaction after one of its connections was lost: its
// server rolls back, so the others are rolled back too.
func (c *Connections) loseTransaction(shard router.ShardName) {
	c.lost = true
	c.Counts.Transactions.count(len(c.branches), twophase.RolledBack)
	var rest []branch
	for _, b := range c.branches {
		if b.Shard == shard {
			c.discard(b)
			continue
		}
		rest = append(rest, b)
	}
	c.rollback(rest)
	c.end()
}

// giveBack returns a connection to the pool. Its last answer was read whole, and it is outside of a transaction. It stays with a session
// that has reserved it. The pool removes what statements left on it: each send declared that.
func (c *Connections) giveBack(b branch) {
	switch {
	case b.Conn.InTransaction():
		c.discard(b)
	case c.reserved.of(b.Conn) != nil:
	case len(c.cursors) > 0 && c.keepForCursors(b):
	case c.Remove(b.Conn):
		b.Pool.Discard(b.Conn)
	default:
		b.Pool.Return(b.Conn)
	}
}

// giveBackAfter gives back a connection after an error: it is good for another statement
// if the server has refused the one.
func (c *Connections) giveBackAfter(b branch, err error) {
	if IsRefusal(err) {
		c.giveBack(b)
		return
	}
	c.discard(b)
}

// discard gives a connection up.
func (c *Connections) discard(b branch) {
	c.loseCursors(b.Conn)
	if c.reserved != nil {
		c.loseReserved(b.Conn)
	}
	c.Remove(b.Conn)
	b.Pool.Discard(b.Conn)
}

// IsRefusal tells an error that a server gave, after which its connection works on.
func IsRefusal(err error) bool {
	_, ok := refusal(err)
	return ok
}
