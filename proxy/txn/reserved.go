package txn

import (
	"context"
	"slices"
	"strings"

	"locus/proxy/backend"
	"locus/router"
	"locus/router/catalog"
)

// Reason is why a session reserves a connection to a shard between its statements. The connection has state that cannot be carried to another
// one.
type Reason uint8

const (
	NamedLock Reason = iota
	LockedTables
	TemporaryTable
	Handler
	Procedure
	GlobalTransaction // the client's own XA transaction
	Routine
	ReadLock     // FLUSH TABLES WITH READ LOCK
	InstanceLock // LOCK INSTANCE FOR BACKUP
	reasons
)

// String returns the name in metrics. Process lists show it with spaces.
func (r Reason) String() string {
	return [...]string{"named_lock", "locked_tables", "temporary_table", "handler", "procedure", "xa", "routine", "read_lock", "instance_lock"}[r]
}

// Reasons returns all reasons, for metrics.
func Reasons() []Reason {
	list := make([]Reason, reasons)
	for r := range reasons {
		list[r] = r
	}
	return list
}

// reservation is a connection to a shard that the session keeps while it has a reason. The transactions and statements on that shard use it.
type reservation struct {
	branch
	reasons uint16 // one bit for each reason
}

func (r *reservation) has(reason Reason) bool { return r.reasons&(1<<reason) != 0 }

// reservations contains the reservations of a session. It has at least one. A session without any has a nil pointer.
type reservations struct {
	list []reservation
	// The following fields describe the reasons' objects. They show when a reason ends.
	locks     []string            // named locks that were requested
	unnamed   bool                // a named lock was requested whose name is not known
	temporary []catalog.TableName // temporary tables
	locked    []catalog.TableName // the tables of LOCK TABLES
	handlers  int
	phase     string // of the client's own XA transaction: "ACTIVE", "IDLE" or "PREPARED"
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

// Reserved reports whether a connection is reserved for a reason.
func (c *Connections) Reserved(reason Reason) bool {
	return c.reserved.find(func(one *reservation) bool { return one.has(reason) }) != nil
}

// ReservesAny reports whether any connection is reserved.
func (c *Connections) ReservesAny() bool { return c.reserved != nil }

// KeepsAny reports whether the session keeps a connection between statements, in addition to the connections of its
// transaction.
func (c *Connections) KeepsAny() bool { return c.reserved != nil || len(c.cursors) > 0 }

// ReservedWords returns the reasons of all reserved connections, for the process list. It returns "" if there are none.
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

func (c *Connections) notifyReserved() { c.observer.Reserves(c.ReservedWords(), c.ReservedThread) }

// ReservedThread returns the server's ID of the connection that is reserved on a shard, or 0 if none is.
func (c *Connections) ReservedThread(shard router.ShardName) uint32 {
	if r := c.reserved.on(shard); r != nil {
		return r.Conn.ThreadID()
	}
	return 0
}

// LostState returns the state that was lost with a reserved connection, or "". With MySQL the session would have ended with the connection. So it
// must end here too, once the client was notified.
func (c *Connections) LostState() string { return c.lostState }

// Reserve reserves the connection for a reason.
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
	c.notifyReserved()
}

// Unreserve ends a reason on every shard. A connection without another reason is given back, unless the transaction or this lease uses it.
func (l Lease) Unreserve(reason Reason) { l.of.unreserve(reason, l.Conn) }

// unreserve is Unreserve without a lease. The connection busy is not given back.
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
	c.notifyReserved()
}

func (c *Connections) dropEmpty() {
	if len(c.reserved.list) == 0 {
		c.reserved = nil
	}
}

// uncount subtracts a reservation from the counters of its reasons.
func (c *Connections) uncount(r reservation) {
	for reason := range reasons {
		if r.has(reason) {
			c.Counts.reserved.now[reason].Add(-1)
		}
	}
}

// unreserveAll ends every reason. It resets the connections, which releases all of their state. No transaction may be open.
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
		// A reset does not end an XA transaction, but closing the connection does. Locks on a whole server are not left to a reset either.
		if global || r.has(ReadLock) || r.has(InstanceLock) || r.Conn.Reset(ctx) != nil {
			c.discard(r.branch)
			continue
		}
		c.giveBack(r.branch)
	}
	c.notifyReserved()
}

// loseReserved removes a reserved connection that was lost, and records the lost state.
func (c *Connections) loseReserved(conn *backend.Conn) {
	r := c.reserved.of(conn)
	if r == nil {
		return
	}
	c.lostState = c.ReservedWords()
	c.uncount(*r)
	c.reserved.list = slices.DeleteFunc(c.reserved.list, func(other reservation) bool { return other.Conn == conn })
	c.dropEmpty()
	c.notifyReserved()
}
