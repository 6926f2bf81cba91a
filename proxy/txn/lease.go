package txn

import (
	"slices"

	"locus/proxy/twophase"
	"locus/router"
)

// Lease is a connection for one statement. It ends by one of Done, Refused, Fail, Lost, Unsent and Release. They decide whether the connection is
// then a branch of the session's transaction. A copy of a Lease is the same lease.
type Lease struct {
	of *Connections
	branch
	mode   Mode
	joined bool // the connection is a branch of the transaction
	fresh  bool // the shard joins the transaction with this statement, and must be sent the opening
}

// Joined reports whether the connection is a branch of the transaction.
func (l Lease) Joined() bool { return l.joined }

// Fresh reports whether the shard joins with this statement.
func (l Lease) Fresh() bool { return l.fresh }

// Stale reports whether the server is the last known primary, which etcd does not confirm.
func (l Lease) Stale() bool { return l.stale }

// CountStale counts a read from the last known primary.
func (l Lease) CountStale() {
	if pool, ok := l.of.Pools.Pool(l.Shard); ok {
		pool.CountStale()
	}
}

// Outside reports whether the statement takes no part in the transaction.
func (l Lease) Outside() bool { return l.mode&Outside != 0 }

// Branch reports whether the connection is currently a branch of the transaction.
func (l Lease) Branch() bool {
	return slices.ContainsFunc(l.of.branches, func(b branch) bool { return b.Conn == l.Conn })
}

// left reports whether the branch has left the transaction since: it was given back with the others.
func (l Lease) left() bool { return l.joined && !l.Branch() }

// Done ends a lease whose answer was read whole. status is the status in that answer.
func (l Lease) Done(status uint16) {
	c := l.of
	if c.reading && l.joined {
		return // the branch is rolled back with the others
	}
	l.Conn.SetStatus(status)
	switch open := l.Conn.InTransaction(); {
	case l.left():
	case l.joined && !open:
		c.removeEnded(l)
	case l.joined:
	case !open:
		c.giveBack(l.branch)
	case l.Outside():
		c.endOutside(l)
	default:
		c.adopt(l)
	}
}

// Refused ends a lease whose answer was read whole and was an error. code is the error's number, or 0 if it is unknown. An error does not report
// whether a transaction is open. In doubt Refused asks the server: with autocommit off, if the error may have ended the transaction, and if the
// statement may have ended it, as a procedure can before it fails.
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

// askOpen asks the server whether the transaction is open, and ends the lease accordingly.
func (c *Connections) askOpen(l Lease) {
	switch _, err := l.Conn.Own().Exec(c.awaiting, "DO 0"); {
	case err != nil && !IsRefusal(err):
		l.Lost()
	case l.joined && (err != nil || !l.Conn.InTransaction()):
		c.RollBack() // the server has rolled back its whole part
	case err != nil:
		c.discard(l.branch)
	default:
		l.Done(l.Conn.Status())
	}
}

// Fail ends a lease by an error of its statement. After a server's error the answer was read whole. After any other error it was not.
func (l Lease) Fail(err error) {
	if e, ok := refusal(err); ok {
		l.Refused(e.Code)
		return
	}
	l.Lost()
}

// Lost closes a connection whose answer was not read to its end. It also ends the transaction, if the connection is a branch.
func (l Lease) Lost() {
	c := l.of
	switch {
	case c.reading && l.joined:
		_ = l.Conn.Lost(true, ErrUnread) // the branch ends with the other branches
	case l.left():
	case l.Branch():
		c.loseTransaction(l.Shard)
	default:
		c.discard(l.branch)
	}
}

// Unsent ends a lease on which a statement could not be sent. If err is a server's refusal, it refused the PREPARE, so neither the statement nor
// an opening was sent.
func (l Lease) Unsent(err error) {
	if IsRefusal(err) {
		l.Release()
	} else {
		l.Lost()
	}
}

// Release ends a lease on which neither a part of the statement nor an opening was sent.
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

// adopt adds a connection to the transaction that its server has begun by itself, because autocommit is off there. The transaction is then like
// one that the client has begun, and shards that join begin in the same way.
func (c *Connections) adopt(l Lease) {
	if !c.Running() {
		c.imply(c.Reserved(LockedTables))
	}
	c.add(l.branch)
}

// removeEnded removes a branch whose server has ended its transaction. The cause is a statement that commits implicitly, or a rollback after a
// deadlock.
func (c *Connections) removeEnded(l Lease) {
	c.remove(l.Shard)
	c.giveBack(l.branch)
	switch {
	case len(c.branches) == 0:
		c.end()
	case c.Spanning == XA:
		// It is not known whether the statement committed there, so it is not known whether the other branches must be
		// committed or rolled back. See [stmt.MayEnd].
		c.Log.Error("a statement ended a transaction of several shards on one of them", "session", c.id, "shard", string(l.Shard))
		c.RollBack()
		c.lost = true
	}
}

// endOutside commits the transaction that a read outside of the session's transaction has begun with autocommit off. Nothing of the session may
// depend on it.
func (c *Connections) endOutside(l Lease) {
	if _, err := l.Conn.Own().Exec(c.awaiting, "COMMIT"); err != nil {
		c.discard(l.branch)
		return
	}
	c.giveBack(l.branch)
}

// loseTransaction ends the transaction after one of its connections was lost. The server of that connection rolls back, so the others are rolled
// back too.
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

// giveBack returns a connection to the pool. The connection's last answer was read whole, and it is outside of a transaction. A reserved
// connection stays with the session. The pool removes the state that statements left on it, because each send declared that state.
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

// giveBackAfter gives a connection back after an error. Only if the server refused the statement, the connection is still usable.
func (c *Connections) giveBackAfter(b branch, err error) {
	if IsRefusal(err) {
		c.giveBack(b)
		return
	}
	c.discard(b)
}

// discard closes a connection.
func (c *Connections) discard(b branch) {
	c.loseCursors(b.Conn)
	if c.reserved != nil {
		c.loseReserved(b.Conn)
	}
	c.Remove(b.Conn)
	b.Pool.Discard(b.Conn)
}

// IsRefusal reports whether a server returned the error, after which its connection stays usable.
func IsRefusal(err error) bool {
	_, ok := refusal(err)
	return ok
}
