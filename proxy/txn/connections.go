package txn

import (
	"context"
	"errors"

	"locus/proxy/backend"
	"locus/router"
)

// Connections are those that one session has.
type Connections struct {
	*Services
	id       uint32
	ctx      context.Context
	awaiting context.Context // ctx without its end, for what Interrupts can end: a watch on ctx costs allocations
	client   Client
	Interrupts
	observer Observer

	transaction
	// reserved are the connections kept between statements: mostly nil, which is all that
	// statements look at.
	reserved *reservations
	cursors  []*holding
	// lostState is what was lost with a reserved connection: the session ends.
	lostState string
	// positions are those of the primaries that the session has not used since: nil where all may be late.
	positions []position
	out       []byte
}

// New makes those of a session that has none yet.
func New(s *Services, e Environment) *Connections {
	return &Connections{
		Services: s, id: e.ID, ctx: e.Context, awaiting: context.WithoutCancel(e.Context),
		client: e.Client, Interrupts: e.Interrupts, observer: e.Observer,
	}
}

// branch is a connection to a shard, mostly one that the transaction has.
type branch struct {
	Shard router.ShardName
	Pool  *backend.Pool
	Conn  *backend.Conn
	// opened: it was sent its opening ahead of the statement that it joined with.
	opened bool
	// xa: it is an XA branch of the transaction's name. The first to join never is.
	xa bool
	// prepared: it was told to prepare, and perhaps did; it can outlive its connection.
	prepared bool
	// wrote: it may have changed something.
	wrote bool
	// stale: the server is the last known primary, which etcd does not confirm.
	stale bool
	// joined is when it did.
	joined Moment
}

// Mode says what a connection is acquired for.
type Mode uint16

const (
	// Outside takes no part in the transaction, unless the shard has one anyway.
	Outside Mode = 1 << iota
	// Late may be answered by a replica.
	Late
	// SeesOwn is Late by a replica that has all that the session has written.
	SeesOwn
	// Writes may change something on the shard, whose branch can't be left out of the two phases.
	Writes
	// MayEnd may end the transaction there, as a procedure can.
	MayEnd
	// Temporary makes, drops or names temporary tables.
	Temporary
	// Scrolls asks the shard for a cursor.
	Scrolls
	// Apart takes a connection that is neither reserved nor the transaction's.
	Apart
	// Soon has another shard to ask if this one is away, which is not waited for.
	Soon
	// Elsewhere is Soon of what the other shard may be asked also once this one was sent it.
	Elsewhere
	// MayBeStale reads of the last known primary, if the shard allows that, while etcd does not confirm it.
	MayBeStale
	// ReadsOnly has the last known primary refuse writes, which the current one would not have.
	ReadsOnly
)

// Describes returns the mode for a question that reads no rows, such as PREPARE. how is what Anywhere passes for the shard: if no other
// one is left to ask, the last known primary will do.
func Describes(how Mode) Mode {
	if how == 0 {
		return MayBeStale
	}
	return how
}

// Acquire finds a connection to a shard that carries the session's settings: the
// transaction's own, a reserved one, or one of the pool's.
func (c *Connections) Acquire(shard router.ShardName, m Mode) (Lease, error) {
	return c.AcquireAs(shard, m, c.settings())
}

// AcquireAs is Acquire with other settings than the session's.
func (c *Connections) AcquireAs(shard router.ShardName, m Mode, settings *backend.Settings) (Lease, error) {
	if err := c.Unwanted(); err != nil {
		return Lease{}, err
	}
	if m&Late == 0 && c.positions != nil {
		c.leave(shard)
	}
	if m&Apart != 0 {
		b, err := c.borrowApart(shard, m, settings)
		return Lease{of: c, branch: b, mode: Outside}, err
	}
	if m&Scrolls != 0 {
		if h := c.forCursor(shard, settings); h != nil {
			return Lease{of: c, branch: h.branch, mode: m}, nil
		}
	}
	if b := c.on(shard); b != nil {
		return c.leaseBranch(b, m, settings)
	}
	if m&Late != 0 && c.reserved == nil {
		if b, ok := c.borrowReplica(shard, m, settings); ok {
			return Lease{of: c, branch: b, mode: m}, nil
		}
	}
	return c.lease(shard, m, settings, c.spans())
}

// leaseBranch gives a branch to one more statement.
func (c *Connections) leaseBranch(b *branch, m Mode, settings *backend.Settings) (Lease, error) {
	switch {
	case m&MayEnd != 0 && c.Spanning == XA && !b.xa && len(c.branches) > 1:
		return Lease{}, endsByItself(b.Shard)
	case m&Temporary != 0 && b.xa && !c.client.Flavor().HasTemporaryWithinXA():
		return Lease{}, temporaryWithin(c.branches[0].Shard, b.Shard)
	}
	if b.stale {
		settings = c.barred(m, settings)
	}
	if err := b.Conn.Carry(c.ctx, settings); err != nil {
		if lost(err) {
			c.loseTransaction(b.Shard)
		}
		return Lease{}, err
	}
	b.wrote = b.wrote || m&Writes != 0
	return Lease{of: c, branch: *b, mode: m, joined: true}, nil
}

// lease takes a further connection, which joins the transaction if there is one.
func (c *Connections) lease(shard router.ShardName, m Mode, settings *backend.Settings, spanning Spanning) (Lease, error) {
	fresh := c.Running() && m&Outside == 0
	further := len(c.branches) > 0 && m&Outside == 0
	xa := further && spanning == XA
	switch {
	case further && spanning == Single:
		return Lease{}, spansShards(c.branches[0].Shard, shard)
	case xa && m&Temporary != 0 && !c.client.Flavor().HasTemporaryWithinXA():
		return Lease{}, temporaryWithin(c.branches[0].Shard, shard)
	}
	lent := m
	if fresh && m&Elsewhere != 0 { // what is given up would take the transaction with it
		lent = m&^Elsewhere | Soon
	}
	b, err := c.borrow(shard, lent, settings)
	if err != nil {
		return Lease{}, err
	}
	if xa {
		if err := c.span(shard); err != nil { // asked only now: one that was away is back
			c.giveBack(b)
			return Lease{}, err
		}
	}
	b.xa, b.wrote = xa, m&Writes != 0
	// BEGIN would end LOCK TABLES: there the server begins by itself, and Done sees it.
	l := Lease{of: c, branch: b, mode: m, fresh: fresh, joined: fresh && !c.Reserved(LockedTables)}
	if l.joined {
		c.add(b)
	}
	return l, nil
}

// spans is what the transaction does at a further shard.
func (c *Connections) spans() Spanning {
	switch {
	case c.reading, c.own && c.Spanning == Single:
		return Multi
	case c.Spanning == XA && c.Reserved(LockedTables):
		return Multi // XA START would need the locks to be given up
	}
	return c.Spanning
}

// borrow takes a connection: the one that is reserved, or one of the pool's.
func (c *Connections) borrow(shard router.ShardName, m Mode, settings *backend.Settings) (branch, error) {
	r := c.reserved.on(shard)
	if r == nil {
		return c.borrowApart(shard, m, settings)
	}
	b := r.branch
	err := b.Conn.Carry(c.ctx, settings)
	if lost(err) {
		c.discard(b)
	}
	return b, err
}

// borrowApart takes a connection from a shard's pool.
func (c *Connections) borrowApart(shard router.ShardName, m Mode, settings *backend.Settings) (branch, error) {
	pool, ok := c.Pools.Pool(shard)
	if !ok {
		return branch{}, Unregistered(shard)
	}
	if m&MayBeStale != 0 {
		if b, ok, err := c.borrowStale(pool, m, settings); ok {
			return b, err
		}
	}
	conn, err := c.borrowFrom(pool, m, settings)
	if err != nil && m&MayBeStale != 0 && backend.NotSent(err) { // the lease ended while it waited
		if b, ok, err := c.borrowStale(pool, m, settings); ok {
			return b, err
		}
	}
	return branch{Shard: shard, Pool: pool, Conn: conn}, err
}

// barred returns the settings of a connection to the last known primary.
func (c *Connections) barred(m Mode, settings *backend.Settings) *backend.Settings {
	if m&ReadsOnly == 0 {
		return settings
	}
	return settings.With(c.client.Flavor().Characteristic("transaction_read_only"), "1")
}

// borrowStale takes a connection to the last known primary of a pool whose lease is over; false: it is not over, or the shard does not
// allow stale reads.
func (c *Connections) borrowStale(pool *backend.Pool, m Mode, settings *backend.Settings) (b branch, ok bool, err error) {
	last, ok := pool.LastKnown()
	if !ok {
		return b, false, nil
	}
	conn, err := c.borrowFrom(last, m|Soon, c.barred(m, settings))
	return branch{Shard: pool.Shard(), Pool: last, Conn: conn, stale: true}, true, err
}

// borrowReplica takes a connection to a usable replica; false: the primary serves.
func (c *Connections) borrowReplica(shard router.ShardName, m Mode, settings *backend.Settings) (branch, bool) {
	pool, ok := c.Pools.Replica(shard)
	if !ok {
		return branch{}, false
	}
	at := -1
	if m&SeesOwn != 0 {
		if at, ok = c.positionOf(shard, settings); !ok {
			return branch{}, false
		}
	}
	conn, err := c.borrowFrom(pool, Soon, settings)
	if err != nil {
		return branch{}, false // if it was interrupted, the primary's isn't lent either
	}
	b := branch{Shard: shard, Pool: pool, Conn: conn}
	if at >= 0 && !c.reaches(b, &c.positions[at]) {
		return branch{}, false
	}
	c.Counts.OnReplicas.Add(1)
	return b, true
}

// borrowFrom takes a connection from a pool, and notes how long that took.
func (c *Connections) borrowFrom(pool *backend.Pool, m Mode, settings *backend.Settings) (*backend.Conn, error) {
	var conn *backend.Conn
	var err error
	switch {
	case m&Elsewhere != 0:
		conn, err = pool.BorrowElsewhere(c.Waits(), settings, c.client.Profile())
	case m&Soon != 0:
		conn, err = pool.BorrowSoon(c.Waits(), settings, c.client.Profile())
	default:
		conn, err = pool.Borrow(c.Waits(), settings, c.client.Profile())
	}
	if err != nil {
		if exhausted, ok := errors.AsType[*backend.ExhaustedError](err); ok {
			c.observer.Waited(exhausted.Waited)
		}
		return nil, err
	}
	c.observer.Waited(conn.Waited())
	if err := c.Await(pool, conn); err != nil { // nobody would end what is sent now
		pool.Return(conn)
		return nil, err
	}
	return conn, nil
}

// settings are what connections carry: the session's, and in its own transaction under
// LOCK TABLES, which BEGIN would end, autocommit is off.
func (c *Connections) settings() *backend.Settings {
	settings := c.client.Settings()
	if c.ownLocked {
		return settings.With("autocommit", "0")
	}
	return settings
}

// Carry brings the transaction's connections to the session's settings.
func (c *Connections) Carry() error {
	for _, b := range c.branches {
		if err := b.Conn.Carry(c.ctx, c.settings()); err != nil {
			c.loseTransaction(b.Shard)
			return err
		}
	}
	return nil
}

// Reset gives everything back. An open transaction is rolled back.
func (c *Connections) Reset() {
	c.closeCursors()
	c.RollBack()
	c.unreserveAll()
	c.lostState = ""
}
