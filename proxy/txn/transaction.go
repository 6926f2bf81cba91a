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

// transaction is what the session has open. Shards join it when a statement
// first needs them; until then BEGIN has cost nothing.
type transaction struct {
	// begun: the client said BEGIN.
	begun bool
	// implied: with autocommit off a server has begun it by itself, or a savepoint was
	// set. Without begun and branches none is open yet, as far as the client can see.
	implied bool
	// own: it is a statement's own, and ends with it.
	own bool
	// ownLocked: it is, under LOCK TABLES.
	ownLocked bool
	// reading: it is, and reads: all branches are rolled back at once.
	reading bool
	// opening are the statements that a shard which joins is sent first: scope,
	// BEGIN, and the savepoints set so far.
	opening []string
	// marks are the savepoints set so far: the last of opening.
	marks []string
	// how it was begun, and scope the SET TRANSACTION that was for it.
	how      stmt.Opening
	scope    string
	branches []branch
	// moment is by which statements run, and join.
	moment Moment
	// name is what the XA branches are called, once there is one.
	name twophase.Name
	// next is SET TRANSACTION … for the transaction to come.
	next string
	// toldNext is the connection that was told so, for the statement under way.
	toldNext *backend.Conn
	// lost: a connection of the transaction was lost, so that it was rolled back
	// before the client asked for it. The session ends once it has been told.
	lost bool
}

// Running tells whether statements join a transaction.
func (t *transaction) Running() bool { return t.begun || t.implied || len(t.branches) > 0 }

// Active tells whether one is open, as the servers' status has it.
func (t *transaction) Active() bool { return t.begun || len(t.branches) > 0 }

// BegunUnderLocks tells whether a server has begun by itself, under LOCK TABLES, what another one that takes part has not: BEGIN, which has
// all begin, would end the locks.
func (c *Connections) BegunUnderLocks() bool {
	return c.Reserved(LockedTables) && slices.ContainsFunc(c.branches, func(b branch) bool { return b.Conn.InTransaction() })
}

// Begun tells whether the client said BEGIN.
func (t *transaction) Begun() bool { return t.begun }

// How is what it was begun as.
func (t *transaction) How() stmt.Opening { return t.how }

// Lost tells whether it was rolled back since one of its connections was lost.
func (t *transaction) Lost() bool { return t.lost }

// Home is the shard that joined first, if any did.
func (t *transaction) Home() (router.ShardName, bool) {
	if len(t.branches) == 0 {
		return "", false
	}
	return t.branches[0].Shard, true
}

// Shards are those that have joined.
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

// end forgets the transaction; the connections were given back.
func (t *transaction) end() {
	clear(t.opening)
	t.next, t.scope, t.how, t.marks = "", "", stmt.Opening{}, t.marks[:0]
	t.begun, t.implied, t.opening, t.branches = false, false, t.opening[:0], t.branches[:0]
	t.name = twophase.Name{}
}

// open notes how a transaction begins on every shard that joins.
func (t *transaction) open(how stmt.Opening) {
	t.begun, t.how, t.scope = true, how, t.next
	if t.scope != "" {
		t.opening = append(t.opening, t.scope)
	}
	t.opening = append(t.opening, how.String())
}

// imply notes a transaction that autocommit being off begins. Under LOCK TABLES shards
// that join must begin by themselves too: BEGIN would end the locks.
func (t *transaction) imply(locked bool) {
	t.open(stmt.Opening{})
	t.begun, t.implied = false, true
	if locked {
		t.opening = t.opening[:len(t.opening)-1]
	}
	t.next = ""
}

// unimply takes that back, if nothing was begun after all.
func (t *transaction) unimply() {
	if next := t.scope; t.implied && len(t.branches)+len(t.marks) == 0 {
		t.end()
		t.next = next
	}
}

// Imply begins what servers with autocommit off would begin by themselves on several
// shards: that could not be prepared.
func (c *Connections) Imply() {
	if c.Spanning != Single && !c.client.Autocommit() && !c.Running() && !c.Reserved(LockedTables) {
		c.imply(false)
	}
}

// Unbegin ends the transaction that a statement has begun with autocommit off on its
// way to several shards, since it was refused before one server would have begun it.
func (c *Connections) Unbegin() {
	c.forget(atomicMark)
	if c.implied && len(c.marks) == 0 {
		next := c.scope
		c.RollBack()
		c.next = next
	}
}

// Begin opens a transaction, after committing one that is open, as MySQL does.
func (c *Connections) Begin(how stmt.Opening) error {
	next := c.next
	if c.begun && c.client.Flavor().KeepsCharacteristics() { // MySQL has it go on with what was said of the one that it ends
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

// Join has a shard join at once: what it reads is of this moment. XA START takes no snapshot, so a further shard is sent a read, which
// names its table's database.
func (c *Connections) Join(shard router.ShardName, m Mode, read string) error {
	settings := c.settings()
	if read != "" {
		settings = c.anywhere()
	}
	l, err := c.AcquireAs(shard, m, settings)
	if err != nil {
		return err
	}
	for _, text := range l.Opening() {
		if _, err := l.Conn.Own().Exec(c.ctx, text); err != nil {
			return c.unjoined(l, err)
		}
	}
	if l.xa {
		if _, err := l.Conn.Own().Query(c.ctx, read); err != nil {
			return c.unjoined(l, err)
		}
	}
	l.Opened()
	return nil
}

// unjoined ends the transaction that a shard could not join.
func (c *Connections) unjoined(l Lease, err error) error {
	if IsRefusal(err) {
		c.RollBack()
	} else {
		l.Lost()
	}
	return err
}

// Chained begins a transaction like the one that ends, for AND CHAIN. It is called before
// that, and what it gives after it.
func (c *Connections) Chained() (begin func() error) {
	how, scope := c.how, cmp.Or(c.next, c.scope)
	how.Snapshot = false
	return func() error {
		c.next = scope
		return c.Begin(how)
	}
}

// Opening lists what a connection must be sent ahead of the statement: what begins the
// transaction that it joins, or SET TRANSACTION for a statement that is one of its own.
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
	l.Conn.Note(backend.State) // a statement that is refused, or has no use for it, leaves it for the next one
	c.toldNext = l.Conn
	return []string{c.next}
}

// Opened notes that the connection was sent its opening by itself.
func (l Lease) Opened() {
	if b := l.of.on(l.Shard); b != nil {
		b.opened = true
	}
}
