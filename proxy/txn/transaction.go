package txn

import (
	"cmp"
	"slices"

	"locus/proxy/backend"
	"locus/proxy/twophase"
	"locus/router"
	"locus/router/stmt"
)

// statusReadOnly is SERVER_STATUS_IN_TRANS_READONLY.
const statusReadOnly = 0x2000

// transaction is the session's open transaction. Shards join it when a statement first needs them. Until then BEGIN sends nothing to them.
type transaction struct {
	// begun is set after the client's BEGIN.
	begun bool
	// implied is set if a server with autocommit off has begun the transaction by itself, or if a savepoint was set. Without begun and branches,
	// no transaction is open from the client's point of view.
	implied bool
	// own is set for a transaction of one statement, which ends with the statement.
	own bool
	// ownLocked is set for such a transaction under LOCK TABLES.
	ownLocked bool
	// reading is set for such a transaction that only reads. All of its branches are rolled back together.
	reading bool
	// opening contains the statements that a joining shard is sent first: scope, BEGIN, and the savepoints set so far.
	opening []string
	// marks contains the savepoints set so far. They are the last statements of opening.
	marks []string
	// how is the way in which the transaction was begun. scope is its SET TRANSACTION statement.
	how      stmt.Opening
	scope    string
	branches []branch
	// moment is the moment under which statements run and shards join.
	moment Moment
	// name is the name of the XA branches, once there is one.
	name twophase.Name
	// next is the SET TRANSACTION statement for the next transaction.
	next string
	// sentNext is the connection that was sent next for the current statement.
	sentNext *backend.Conn
	// lost is set if a connection of the transaction was lost, so that it was rolled back without the client's request. The session ends once the
	// client was notified.
	lost bool
}

// Running reports whether statements join a transaction.
func (t *transaction) Running() bool { return t.begun || t.implied || len(t.branches) > 0 }

// Active reports whether a transaction is open, as the status of the servers shows it.
func (t *transaction) Active() bool { return t.begun || len(t.branches) > 0 }

// BegunUnderLocks reports whether, under LOCK TABLES, a server has begun a transaction by itself. Other shards of it may not have begun one,
// because BEGIN, which begins on all, would end the locks.
func (c *Connections) BegunUnderLocks() bool {
	return c.Reserved(LockedTables) && slices.ContainsFunc(c.branches, func(b branch) bool { return b.Conn.InTransaction() })
}

// Begun reports whether the client sent BEGIN.
func (t *transaction) Begun() bool { return t.begun }

// How returns how the transaction was begun.
func (t *transaction) How() stmt.Opening { return t.how }

// Lost reports whether the transaction was rolled back because one of its connections was lost.
func (t *transaction) Lost() bool { return t.lost }

// Home returns the shard that joined first. It returns false if none has joined.
func (t *transaction) Home() (router.ShardName, bool) {
	if len(t.branches) == 0 {
		return "", false
	}
	return t.branches[0].Shard, true
}

// Shards returns the shards that have joined, in that order.
func (t *transaction) Shards() []router.ShardName {
	list := make([]router.ShardName, len(t.branches))
	for i, b := range t.branches {
		list[i] = b.Shard
	}
	return list
}

func (t *transaction) on(shard router.ShardName) *branch {
	for i := range t.branches {
		if t.branches[i].Shard == shard {
			return &t.branches[i]
		}
	}
	return nil
}

func (t *transaction) add(b branch) {
	b.joined = t.moment
	t.branches = append(t.branches, b)
}

func (t *transaction) remove(shard router.ShardName) {
	t.branches = slices.DeleteFunc(t.branches, func(b branch) bool { return b.Shard == shard })
}

// end clears the transaction. Its connections were already given back.
func (t *transaction) end() {
	clear(t.opening)
	t.next, t.scope, t.how, t.marks = "", "", stmt.Opening{}, t.marks[:0]
	t.begun, t.implied, t.opening, t.branches = false, false, t.opening[:0], t.branches[:0]
	t.name = twophase.Name{}
}

// open records how a transaction begins on every shard that joins.
func (t *transaction) open(how stmt.Opening) {
	t.begun, t.how, t.scope = true, how, t.next
	if t.scope != "" {
		t.opening = append(t.opening, t.scope)
	}
	t.opening = append(t.opening, how.String())
}

// imply records a transaction that begins without BEGIN because autocommit is off. Under LOCK TABLES, the joining shards must begin by themselves
// too, because BEGIN would end the locks.
func (t *transaction) imply(locked bool) {
	t.open(stmt.Opening{})
	t.begun, t.implied = false, true
	if locked {
		t.opening = t.opening[:len(t.opening)-1]
	}
	t.next = ""
}

// unimply reverts imply, if nothing was begun.
func (t *transaction) unimply() {
	if next := t.scope; t.implied && len(t.branches)+len(t.marks) == 0 {
		t.end()
		t.next = next
	}
}

// Imply begins the transaction that servers with autocommit off would begin by themselves on several shards. Such a transaction could not be
// prepared.
func (c *Connections) Imply() {
	if c.Spanning != Single && !c.client.Autocommit() && !c.Running() && !c.Reserved(LockedTables) {
		c.imply(false)
	}
}

// Unbegin ends the transaction that a statement for several shards has begun with autocommit off. The statement was refused at a point where a
// single server would not have begun one.
func (c *Connections) Unbegin() {
	c.forget(atomicMark)
	if c.implied && len(c.marks) == 0 {
		next := c.scope
		c.RollBack()
		c.next = next
	}
}

// Begin opens a transaction. It commits an open one first, as MySQL does.
func (c *Connections) Begin(how stmt.Opening) error {
	next := c.next
	if c.begun && c.client.Flavor().KeepsCharacteristics() { // MySQL keeps the characteristics of the transaction that BEGIN ends
		next = cmp.Or(next, c.scope)
		if how.Access == stmt.AnyAccess {
			how.Access = c.how.Access
		}
	}
	if err := c.Commit(); err != nil {
		return err
	}
	if err := c.UnlockTables(); err != nil {
		return err
	}
	c.next = next
	c.open(how)
	c.next = ""
	return nil
}

// Join makes a shard join at once, so that its reads are of this moment. XA START takes no snapshot. So a further shard is also sent the query
// read, which names the database of its table.
func (c *Connections) Join(shard router.ShardName, m Mode, read string) error {
	settings := c.settings()
	if read != "" {
		settings = c.settingsAnywhere()
	}
	l, err := c.AcquireAs(shard, m, settings)
	if err != nil {
		return err
	}
	for _, text := range l.Opening() {
		if _, err := l.Conn.Own().Exec(c.ctx, text); err != nil {
			return c.failJoin(l, err)
		}
	}
	if l.xa {
		if _, err := l.Conn.Own().Query(c.ctx, read); err != nil {
			return c.failJoin(l, err)
		}
	}
	l.Opened()
	return nil
}

// failJoin ends the transaction that a shard could not join.
func (c *Connections) failJoin(l Lease, err error) error {
	if IsRefusal(err) {
		c.RollBack()
	} else {
		l.Lost()
	}
	return err
}

// Chained returns a function that begins a transaction like the current one, for AND CHAIN. Chained is called before the current transaction
// ends, and begin after it.
func (c *Connections) Chained() (begin func() error) {
	how, scope := c.how, cmp.Or(c.next, c.scope)
	how.Snapshot = false
	return func() error {
		c.next = scope
		return c.Begin(how)
	}
}

// Opening returns the statements that a connection must be sent before the statement. They begin the transaction that the shard joins, or are the
// SET TRANSACTION for a statement that is a transaction of its own.
func (l Lease) Opening() []string {
	c := l.of
	switch {
	case l.fresh && l.xa:
		return c.openingXA()
	case l.fresh:
		return c.opening
	case c.next == "" || c.begun || l.joined || l.Outside():
		return nil
	}
	l.Conn.Note(backend.State) // a statement that is refused, or does not use it, leaves it for the next one
	c.sentNext = l.Conn
	return []string{c.next}
}

// Opened records that the connection was sent its opening in a message of its own.
func (l Lease) Opened() {
	if b := l.of.on(l.Shard); b != nil {
		b.opened = true
	}
}
