package txn

import (
	"context"
	"errors"

	"locus/proxy/backend"
	"locus/router"
)

// Connections contains the connections of one session to shards.
type Connections struct {
	*Services
	id       uint32
	ctx      context.Context
	awaiting context.Context // ctx without its cancellation, for waits that Interrupts ends: a watch on ctx costs allocations
	client   Client
	Interrupts
	observer Observer

	transaction
	// reserved contains the connections that are kept between statements. It is nil in most sessions, so that statements check only the pointer.
	reserved *reservations
	cursors  []*cursorConn
	// lostState names the state that was lost with a reserved connection, or is empty. If it is set, the session ends.
	lostState string
	// positions contains positions of primaries that the session has not used since. It is nil until a read with SeesOwn needs one.
	positions []position
	out       []byte
}

// New returns the connections of a session, which has none yet.
func New(s *Services, e Environment) *Connections {
	return &Connections{
		Services: s, id: e.ID, ctx: e.Context, awaiting: context.WithoutCancel(e.Context),
		client: e.Client, Interrupts: e.Interrupts, observer: e.Observer,
	}
}

// branch is a connection to a shard. In most cases it is a branch of the transaction.
type branch struct {
	Shard router.ShardName
	Pool  *backend.Pool
	Conn  *backend.Conn
	// opened is set once the connection was sent its opening in a message of its own, before the statement with which the shard joined.
	opened bool
	// xa is set for an XA branch under the transaction's name. The first branch to join never is one.
	xa bool
	// prepared is set if XA PREPARE was sent, unless the server refused it. Such a branch can outlive its connection.
	prepared bool
	// wrote is set if the branch may have changed data.
	wrote bool
	// stale is set if the server is the last known primary, which etcd does not confirm.
	stale bool
	// joined is the moment at which the branch joined.
	joined Moment
}

// Mode is a set of flags that describe the purpose of a connection.
type Mode uint16

const (
	// Outside means that the statement takes no part in the transaction, unless the shard is already part of it.
	Outside Mode = 1 << iota
	// Late means that a replica may answer.
	Late
	// SeesOwn, with Late, means that the replica must have applied all writes of the session.
	SeesOwn
	// Writes means that the statement may change data on the shard, so that its branch must take part in the two-phase commit.
	Writes
	// MayEnd means that the statement may end the transaction there, as a procedure can.
	MayEnd
	// Temporary means that the statement makes, drops or names temporary tables.
	Temporary
	// Scrolls means that the statement asks the shard for a cursor.
	Scrolls
	// Apart means that the connection must be neither reserved nor one of the transaction.
	Apart
	// Soon means that the caller can ask another shard. So it does not wait for this shard if it is unreachable.
	Soon
	// Repeatable is Soon for a statement that the other shard may be asked even after this shard was sent it.
	Repeatable
	// MayBeStale means that the last known primary may answer while etcd does not confirm it, if the shard allows stale reads.
	MayBeStale
	// ReadsOnly makes the last known primary refuse writes, because the current primary would not have them.
	ReadsOnly
)

// Describes returns the mode for a statement that reads no rows, such as PREPARE. how is the mode that Anywhere passes for the shard. If it is 0,
// no other shard is left to ask, so the last known primary may answer.
func Describes(how Mode) Mode {
	if how == 0 {
		return MayBeStale
	}
	return how
}

// Acquire returns a connection to a shard with the session's settings. It is the transaction's, a reserved one, or one from the pool.
func (c *Connections) Acquire(shard router.ShardName, m Mode) (Lease, error) {
	return c.AcquireAs(shard, m, c.settings())
}

// AcquireAs is Acquire with settings other than the session's.
func (c *Connections) AcquireAs(shard router.ShardName, m Mode, settings *backend.Settings) (Lease, error) {
	if err := c.Unwanted(); err != nil {
		return Lease{}, err
	}
	if c.ownLocked && m&(Apart|Outside) == 0 { // the shards must not commit the parts of the statement one by one
		settings = settings.With("autocommit", "0")
	}
	if m&Late == 0 && c.positions != nil {
		c.forgetPosition(shard)
	}
	if m&Apart != 0 {
		b, err := c.borrowApart(shard, m, settings)
		return Lease{of: c, branch: b, mode: Outside}, err
	}
	if m&Scrolls != 0 {
		if h := c.takeForCursor(shard, settings); h != nil {
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
	return c.lease(shard, m, settings, c.spanningMode())
}

// leaseBranch lends a branch for one more statement.
func (c *Connections) leaseBranch(b *branch, m Mode, settings *backend.Settings) (Lease, error) {
	switch {
	case m&MayEnd != 0 && c.Spanning == XA && !b.xa && len(c.branches) > 1:
		return Lease{}, endsByItself(b.Shard)
	case m&Temporary != 0 && b.xa && !c.client.Flavor().HasTemporaryWithinXA():
		return Lease{}, temporaryWithin(c.branches[0].Shard, b.Shard)
	}
	if b.stale {
		settings = c.staleSettings(m, settings)
	}
	if err := b.Conn.Carry(c.ctx, settings); err != nil {
		if isLost(err) {
			c.loseTransaction(b.Shard)
		}
		return Lease{}, err
	}
	b.wrote = b.wrote || m&Writes != 0
	return Lease{of: c, branch: *b, mode: m, joined: true}, nil
}

// lease takes a connection to a shard that has none in the transaction. It joins the transaction, if there is one.
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
	if fresh && m&Repeatable != 0 { // giving up a sent statement would lose the transaction too
		lent = m&^Repeatable | Soon
	}
	b, err := c.borrow(shard, lent, settings)
	if err != nil {
		return Lease{}, err
	}
	if xa {
		if err := c.span(shard); err != nil { // checked only now, because the server may have been unreachable until now
			c.giveBack(b)
			return Lease{}, err
		}
	}
	b.xa, b.wrote = xa, m&Writes != 0
	// BEGIN would end LOCK TABLES. There the server begins the transaction by itself, and Done detects it.
	l := Lease{of: c, branch: b, mode: m, fresh: fresh, joined: fresh && !c.Reserved(LockedTables)}
	if l.joined {
		c.add(b)
	}
	return l, nil
}

// spanningMode returns how the running transaction handles a further shard.
func (c *Connections) spanningMode() Spanning {
	switch {
	case c.reading, c.own && c.Spanning == Single:
		return Multi
	case c.Spanning == XA && c.Reserved(LockedTables):
		return Multi // XA START requires that the locks are released
	}
	return c.Spanning
}

// borrow takes a connection to a shard: the reserved one, or one from the pool.
func (c *Connections) borrow(shard router.ShardName, m Mode, settings *backend.Settings) (branch, error) {
	r := c.reserved.on(shard)
	if r == nil {
		return c.borrowApart(shard, m, settings)
	}
	b := r.branch
	err := b.Conn.Carry(c.ctx, settings)
	if isLost(err) {
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
	if err != nil && m&MayBeStale != 0 && backend.NotSent(err) { // the proxy's lease ended during the wait
		if b, ok, err := c.borrowStale(pool, m, settings); ok {
			return b, err
		}
	}
	return branch{Shard: shard, Pool: pool, Conn: conn}, err
}

// staleSettings returns the settings for a connection to the last known primary.
func (c *Connections) staleSettings(m Mode, settings *backend.Settings) *backend.Settings {
	if m&ReadsOnly == 0 {
		return settings
	}
	return settings.With(c.client.Flavor().Characteristic("transaction_read_only"), "1")
}

// borrowStale takes a connection to the last known primary of a pool whose lease has ended. ok is false if the lease has not ended, or if the
// shard does not allow stale reads.
func (c *Connections) borrowStale(pool *backend.Pool, m Mode, settings *backend.Settings) (b branch, ok bool, err error) {
	last, ok := pool.LastKnown()
	if !ok {
		return b, false, nil
	}
	conn, err := c.borrowFrom(last, m|Soon, c.staleSettings(m, settings))
	return branch{Shard: pool.Shard(), Pool: last, Conn: conn, stale: true}, true, err
}

// borrowReplica takes a connection to a usable replica. It returns false if the primary must answer.
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
		return branch{}, false // after an interruption the primary's pool lends nothing either
	}
	b := branch{Shard: shard, Pool: pool, Conn: conn}
	if at >= 0 && !c.waitForPosition(b, &c.positions[at]) {
		return branch{}, false
	}
	c.Counts.OnReplicas.Add(1)
	return b, true
}

// borrowFrom takes a connection from a pool, and reports the wait to the observer.
func (c *Connections) borrowFrom(pool *backend.Pool, m Mode, settings *backend.Settings) (*backend.Conn, error) {
	var conn *backend.Conn
	var err error
	switch {
	case m&Repeatable != 0:
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
	if err := c.Await(pool, conn); err != nil { // an interruption would not end the statement that is sent now
		pool.Return(conn)
		return nil, err
	}
	return conn, nil
}

// settings returns the settings of the session's connections. A statement's own transaction under LOCK TABLES runs with autocommit off, because
// BEGIN would end the locks.
func (c *Connections) settings() *backend.Settings {
	settings := c.client.Settings()
	if c.ownLocked {
		return settings.With("autocommit", "0")
	}
	return settings
}

// Carry applies the session's settings to the connections of the transaction.
func (c *Connections) Carry() error {
	for _, b := range c.branches {
		if err := b.Conn.Carry(c.ctx, c.settings()); err != nil {
			c.loseTransaction(b.Shard)
			return err
		}
	}
	return nil
}

// Reset gives all connections back. It rolls an open transaction back.
func (c *Connections) Reset() {
	c.closeCursors()
	c.RollBack()
	c.unreserveAll()
	c.lostState = ""
}
