package txn

import (
	"context"
	"slices"
	"strings"

	"locus/proxy/backend"
	"locus/router"
	"locus/router/catalog"
)

// Reason is why a session reserves a connection to a shard between its
// statements: state of the connection that can't be carried to another one.
type Reason uint8

const (
	NamedLock Reason = iota
	LockedTables
	TemporaryTable
	Handler
	Procedure
	GlobalTransaction // the client's own XA
	Routine
	ReadLock     // FLUSH TABLES WITH READ LOCK
	InstanceLock // LOCK INSTANCE FOR BACKUP
	reasons
)

// String is what metrics and process lists say.
func (r Reason) String() string {
	return [...]string{"named_lock", "locked_tables", "temporary_table", "handler", "procedure", "xa", "routine", "read_lock", "instance_lock"}[r]
}

// Reasons lists all, for metrics.
func Reasons() []Reason {
	list := make([]Reason, reasons)
	for r := range reasons {
		list[r] = r
	}
	return list
}

// reservation is a connection that the session keeps to a shard while a reason lasts.
// Transactions and statements on that shard use it.
type reservation struct {
	branch
	reasons uint16 // a bit for each
}

func (r *reservation) has(reason Reason) bool { return r.reasons&(1<<reason) != 0 }

// reservations are a session's: at least one, else it has a nil pointer.
type reservations struct {
	list []reservation
	// What the reasons are about, so that it is known when they end.
	locks     []string            // named locks that were asked for
	unnamed   bool                // one whose name is not known was
	temporary []catalog.TableName // tables
	locked    []catalog.TableName // by LOCK TABLES
	handlers  int
	phase     string // of the client's own XA transaction: "ACTIVE", "IDLE", "PREPARED"
}

func (r *reservations) find(which func(*reservation) bool) *reservation {
	if r == nil {
		return nil
	}
	for i := range r.list {
		if which(&r.list[i]) {
			return &r.list[i]
		}
	}
	return nil
}

func (r *reservations) on(shard router.ShardName) *reservation {
	return r.find(func(one *reservation) bool { return one.Shard == shard })
}

func (r *reservations) of(conn *backend.Conn) *reservation {
	return r.find(func(one *reservation) bool { return one.Conn == conn })
}

// Reserved tells whether a connection is reserved for a reason.
func (c *Connections) Reserved(reason Reason) bool {
	return c.reserved.find(func(one *reservation) bool { return one.has(reason) }) != nil
}

// ReservesAny tells whether a connection is reserved.
func (c *Connections) ReservesAny() bool { return c.reserved != nil }

// KeepsAny tells whether the session has a connection between statements, but for its
// transaction's.
func (c *Connections) KeepsAny() bool { return c.reserved != nil || len(c.cursors) > 0 }

// ReservedWords are the reasons of all, for the process list.
func (c *Connections) ReservedWords() string {
	var words []string
	for r := range reasons {
		if c.Reserved(r) {
			words = append(words, strings.ReplaceAll(r.String(), "_", " "))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return "pinned: " + strings.Join(words, ", ")
}

func (c *Connections) tellReserved() { c.observer.Reserves(c.ReservedWords(), c.ReservedThread) }

// ReservedThread is the number of the connection that is reserved on a shard, 0 if none is.
func (c *Connections) ReservedThread(shard router.ShardName) uint32 {
	if r := c.reserved.on(shard); r != nil {
		return r.Conn.ThreadID()
	}
	return 0
}

// LostState is what was lost with a reserved connection; empty: nothing. With MySQL the
// session would have ended with it, and so it is to, once the client knows.
func (c *Connections) LostState() string { return c.lostState }

// Reserve keeps the connection for a reason.
func (l Lease) Reserve(reason Reason) {
	c := l.of
	if c.reserved == nil {
		c.reserved = &reservations{}
	}
	r := c.reserved.on(l.Shard)
	if r == nil {
		c.reserved.list = append(c.reserved.list, reservation{branch: branch{Shard: l.Shard, Pool: l.Pool, Conn: l.Conn}})
		r = &c.reserved.list[len(c.reserved.list)-1]
	}
	if r.has(reason) {
		return
	}
	r.reasons |= 1 << reason
	c.Counts.reserved.now[reason].Add(1)
	c.Counts.reserved.total[reason].Add(1)
	c.tellReserved()
}

// Unreserve ends a reason on every shard. A connection without a further one is
// given back, unless the transaction has it, or this lease.
func (l Lease) Unreserve(reason Reason) { l.of.unreserve(reason, l.Conn) }

func (c *Connections) unreserve(reason Reason, busy *backend.Conn) {
	if !c.Reserved(reason) {
		return
	}
	var ended []branch
	c.reserved.list = slices.DeleteFunc(c.reserved.list, func(r reservation) bool {
		if !r.has(reason) || r.reasons != 1<<reason {
			return false
		}
		c.uncount(r)
		ended = append(ended, r.branch)
		return true
	})
	for i := range c.reserved.list {
		if r := &c.reserved.list[i]; r.has(reason) {
			r.reasons &^= 1 << reason
			c.Counts.reserved.now[reason].Add(-1)
		}
	}
	c.dropEmpty()
	for _, b := range ended {
		if b.Conn != busy && c.on(b.Shard) == nil {
			c.giveBack(b)
		}
	}
	c.tellReserved()
}

func (c *Connections) dropEmpty() {
	if len(c.reserved.list) == 0 {
		c.reserved = nil
	}
}

func (c *Connections) uncount(r reservation) {
	for reason := range reasons {
		if r.has(reason) {
			c.Counts.reserved.now[reason].Add(-1)
		}
	}
}

// unreserveAll ends every reason: the connections are reset, which lets go of
// whatever they hold. No transaction is open.
func (c *Connections) unreserveAll() {
	if c.reserved == nil {
		return
	}
	global := c.Reserved(GlobalTransaction)
	ended := c.reserved.list
	c.reserved = nil
	ctx, cancel := context.WithTimeout(c.awaiting, UndoTime)
	defer cancel()
	for _, r := range ended {
		c.uncount(r)
		// A reset does not end XA: the connection's end does. Nor is it to be relied on for what locks a whole server.
		if global || r.has(ReadLock) || r.has(InstanceLock) || r.Conn.Reset(ctx) != nil {
			c.discard(r.branch)
			continue
		}
		c.giveBack(r.branch)
	}
	c.tellReserved()
}

// loseReserved forgets a reserved connection that was lost.
func (c *Connections) loseReserved(conn *backend.Conn) {
	r := c.reserved.of(conn)
	if r == nil {
		return
	}
	c.lostState = c.ReservedWords()
	c.uncount(*r)
	c.reserved.list = slices.DeleteFunc(c.reserved.list, func(other reservation) bool { return other.Conn == conn })
	c.dropEmpty()
	c.tellReserved()
}
