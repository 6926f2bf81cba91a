package session

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"locus/proxy/backend"
	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// pinReason is why a session keeps a connection to a shard between its
// statements: state of the connection that can't be carried to another one.
type pinReason uint8

const (
	namedLock pinReason = iota
	lockedTables
	temporaryTable
	handler
	procedure
	globalTransaction
	routine
	pinReasons
)

// String is what metrics and process lists say.
func (r pinReason) String() string {
	return [...]string{"named_lock", "locked_tables", "temporary_table", "handler", "procedure", "xa", "routine"}[r]
}

// PinReasons lists why sessions are pinned, for metrics.
func PinReasons() []string {
	list := make([]string, pinReasons)
	for r := range pinReasons {
		list[r] = r.String()
	}
	return list
}

// pinCounts counts by reason.
type pinCounts struct {
	now   [pinReasons]atomic.Int64
	total [pinReasons]atomic.Uint64
}

// Pinned says how many connections are pinned for a reason, and how often that
// has happened.
func (c *Counts) Pinned(reason int) (now int64, total uint64) {
	return c.pins.now[reason].Load(), c.pins.total[reason].Load()
}

// pin is a connection that the session keeps to a shard while a reason lasts.
// Transactions and statements on that shard use it.
type pin struct {
	branch
	reasons uint16 // a bit for each
}

// pins are what a session has pinned. A session without has none of this: a nil
// pointer is all that its statements look at.
type pins struct {
	list []pin
	// What the reasons are about, so that it is known when they end.
	locks     []string            // named locks that were asked for
	unnamed   bool                // one whose name is not known was
	temporary []catalog.TableName // tables
	locked    []catalog.TableName // by LOCK TABLES
	handlers  int
	phase     string // of the client's own XA transaction: "ACTIVE", "IDLE", "PREPARED"
}

func (p *pins) on(shard router.ShardName) *pin {
	for i := range p.list {
		if p.list[i].shard == shard {
			return &p.list[i]
		}
	}
	return nil
}

// tables are the session's temporary ones, as far as their names are known.
func (p *pins) tables() []catalog.TableName {
	if p == nil {
		return nil
	}
	return p.temporary
}

func (p *pins) of(conn *backend.Conn) *pin {
	for i := range p.list {
		if p.list[i].conn == conn {
			return &p.list[i]
		}
	}
	return nil
}

// oneMore tells why a statement can't be run that may add to the names that are
// remembered.
func (p *pins) oneMore(st *stmt.Statement) error {
	switch {
	case st.Features&stmt.NamedLock != 0:
		return oneMore("named locks", len(p.locks))
	case st.Features&stmt.TemporaryTable != 0 && st.Verb == "CREATE":
		return oneMore("temporary tables", len(p.temporary))
	}
	return nil
}

func (p *pins) has(r pinReason) bool {
	return p != nil && slices.ContainsFunc(p.list, func(one pin) bool { return one.reasons&(1<<r) != 0 })
}

// words are the reasons of all, for the process list.
func (p *pins) words() string {
	var words []string
	for r := range pinReasons {
		if p.has(r) {
			words = append(words, strings.ReplaceAll(r.String(), "_", " "))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return "pinned: " + strings.Join(words, ", ")
}

// pin keeps a lease's connection for a reason.
func (s *Session) pin(l lease, reason pinReason) {
	if s.pins == nil {
		s.pins = &pins{}
	}
	p := s.pins.on(l.shard)
	if p == nil {
		kept := branch{shard: l.shard, pool: l.pool, conn: l.conn}
		s.pins.list = append(s.pins.list, pin{branch: kept})
		p = &s.pins.list[len(s.pins.list)-1]
	}
	if p.reasons&(1<<reason) != 0 {
		return
	}
	p.reasons |= 1 << reason
	s.Counts.pins.now[reason].Add(1)
	s.Counts.pins.total[reason].Add(1)
	s.showPins()
}

// unpin ends a reason on every shard. A connection without a further one is
// given back, unless the transaction has it, or a statement under way, which gives
// it back itself.
func (s *Session) unpin(reason pinReason, busy *backend.Conn) {
	if !s.pins.has(reason) {
		return
	}
	var ended []branch
	s.pins.list = slices.DeleteFunc(s.pins.list, func(p pin) bool {
		return p.reasons == 1<<reason && s.uncount(p, &ended)
	})
	for i := range s.pins.list {
		if p := &s.pins.list[i]; p.reasons&(1<<reason) != 0 {
			p.reasons &^= 1 << reason
			s.Counts.pins.now[reason].Add(-1)
		}
	}
	if len(s.pins.list) == 0 {
		s.pins = nil
	}
	for _, b := range ended {
		if b.conn != busy && s.txn.on(b.shard) == nil {
			s.giveBack(b)
		}
	}
	s.showPins()
}

// uncount counts a pin that ends, and collects its connection.
func (s *Session) uncount(p pin, into *[]branch) bool {
	for r := range pinReasons {
		if p.reasons&(1<<r) != 0 {
			s.Counts.pins.now[r].Add(-1)
		}
	}
	*into = append(*into, p.branch)
	return true
}

// unpinAll ends every reason: the connections are reset, which lets go of
// whatever they hold. No transaction is open.
func (s *Session) unpinAll() {
	if s.pins == nil {
		return
	}
	var ended []branch
	global := s.pins.has(globalTransaction)
	for _, p := range s.pins.list {
		s.uncount(p, &ended)
	}
	s.pins = nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), undoTime)
	defer cancel()
	for _, b := range ended {
		if global || b.conn.Reset(ctx) != nil { // a reset does not end XA: the connection's end does
			s.discard(b)
			continue
		}
		s.giveBack(b)
	}
	s.showPins()
}

// keeps tells whether a connection that would be given back stays the session's.
func (s *Session) keeps(b branch) bool {
	return s.pins.of(b.conn) != nil
}

// losePin forgets a pinned connection that was lost. With MySQL the session
// would have ended with it, and so it does here, once the client knows.
func (s *Session) losePin(conn *backend.Conn) {
	p := s.pins.of(conn)
	if p == nil {
		return
	}
	s.lostPins = s.pins.words()
	var ended []branch
	s.uncount(*p, &ended)
	s.pins.list = slices.DeleteFunc(s.pins.list, func(other pin) bool { return other.conn == conn })
	s.showPins()
}

func (s *Session) showPins() {
	words := ""
	if s.pins != nil {
		words = s.pins.words()
	}
	kept := s.pinnedAt(s.World().Catalog.First())
	s.activity.set(func(a *activity) { a.pinned, a.kept = words, kept })
}

// pinnedAt is the number of the connection that is pinned on a shard, 0 if none is.
func (s *Session) pinnedAt(shard router.ShardName) uint32 {
	if s.pins == nil {
		return 0
	}
	if p := s.pins.on(shard); p != nil {
		return p.conn.ThreadID()
	}
	return 0
}

// carryPinned lends a pinned connection to a statement.
func (s *Session) carryPinned(b branch, settings *backend.Settings) (branch, error) {
	err := b.conn.Carry(s.ctx, settings)
	if err == nil {
		return b, nil
	}
	if _, lost := errors.AsType[*backend.LostError](err); lost {
		s.discard(b)
	}
	return branch{}, err
}
