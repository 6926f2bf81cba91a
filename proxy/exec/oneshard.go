package exec

import (
	"errors"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/reply"
	"locus/proxy/sysvars"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// oneShard sends a statement to a shard and relays the answer, whose end last may change. It repeats a read that was lost if that
// is safe.
func (x *Execution) oneShard(p Part, last reply.Ending) error {
	return x.repeat(func() error { return x.roundTrip(p, last) })
}

// roundTrip sends a statement to one shard and relays the answer. In the usual case it waits twice: for a connection, and for the
// answer, which is relayed as it arrives. In other cases it also waits for the statements that open a transaction (see send), and
// for what is read from the connection afterwards (see takeOver).
func (x *Execution) roundTrip(p Part, last reply.Ending) error {
	l, err := x.Conns.Acquire(p.Shard, x.mode()) // waits
	if err != nil {
		return err
	}
	if l.Stale() {
		x.markStale(l)
	}
	if err := x.send(l, p.Text, p.Params); err != nil {
		l.Unsent(err)
		return err
	}
	if err := x.Relay(l.Conn, x.response(), x.flags(), last); err != nil { // waits
		if txn.IsRefusal(err) {
			l.Refused(0)
		} else {
			l.Lost()
		}
		return err
	}
	x.Observer.Answered(p.Shard)
	a := x.readAnswer()
	left := leftBy(x.Facts, a, x.Vars.Autocommit || l.Joined())
	if x.tracedMeanwhile() {
		l.Conn.Note(backend.State)
		left |= routineState
	}
	x.takeOver(l, a, left)
	if x.Cursor && a.opened() {
		x.Prepared.Cursor = l.Open(x.executed)
	}
	switch {
	case a.Failed:
		l.Refused(a.code)
	case left&metadataLocks != 0:
		x.unlock(l)
	default:
		l.Done(a.status)
	}
	if x.Conns.Lost() { // the answer is out already
		return &reply.PartialError{Err: ErrTransactionLost}
	}
	return nil
}

// ErrTransactionLost is the reason why the client's connection is closed.
var ErrTransactionLost = errors.New("a connection that the session needs was lost")

// mode returns the mode in which the connection for a statement on one shard is acquired.
func (x *Execution) mode() txn.Mode {
	m := x.purpose()
	if x.Facts.Statement.Effects&stmt.MayEnd != 0 {
		m |= txn.MayEnd
	}
	if x.usesTemporary() {
		m |= txn.Temporary
	}
	if x.Cursor {
		m |= txn.Scrolls
	}
	return m
}

// purpose returns the mode in which a statement's connections are acquired, on one shard or several.
func (x *Execution) purpose() (m txn.Mode) {
	if x.Outside {
		m |= txn.Outside
	}
	if x.Replica {
		m |= txn.Late
		if x.Vars.Reads == sysvars.OwnReplica {
			m |= txn.SeesOwn
		}
	}
	if x.Stale && !x.Cursor && x.AcquireMode == 0 { // otherwise another shard, with a confirmed primary, may have the rows
		m |= txn.MayBeStale | txn.ReadsOnly
	}
	if mayWrite(x.Facts) {
		m |= txn.Writes
	}
	return m | x.AcquireMode
}

// response returns the kind of the answer to the statement.
func (x *Execution) response() wire.ResponseKind {
	if x.Cursor {
		return wire.CursorResponse
	}
	return wire.QueryResponse
}

// Relay relays a shard's answer to the client with additional flags, and records that it was relayed.
func (e *Engine) Relay(c *backend.Conn, kind wire.ResponseKind, flags uint16, last reply.Ending) error {
	err := e.Client.Relay(c, kind, flags, last)
	if err == reply.ErrNoFile { //nolint:errorlint // it is never wrapped
		return e.Flavor().NoLocalFiles()
	}
	if err == nil {
		e.Observer.Relayed()
	}
	return err
}

// answer describes a shard's answer that was relayed to the client.
type answer struct {
	sysvars.Answer
	code     uint16 // error code if it failed
	status   uint16
	warned   bool
	inserted bool // the OK packet contains a generated ID
	insertID uint64
}

// opened reports whether the shard has opened a cursor.
func (a *answer) opened() bool { return !a.Failed && a.status&mysql.SERVER_STATUS_CURSOR_EXISTS != 0 }

// readAnswer returns the answer that was just relayed.
func (x *Execution) readAnswer() answer {
	seen := &x.Client.Scanner
	ok, has := seen.OK()
	a := answer{status: seen.Status(), warned: seen.Warnings() > 0, inserted: has && ok.LastInsertID != 0, insertID: ok.LastInsertID}
	a.Columns, a.Rows, a.OK, a.Affected = seen.Columns() > 0, uint64(seen.Rows()), has, ok.AffectedRows
	a.Offset = offset(x)
	a.code, a.Failed = seen.ErrCode()
	a.Begun = a.Failed && !beforeBeginning(a.code)
	x.Code = a.code
	return a
}

// offset returns the OFFSET of a query, or 0 if it is not known.
func offset(w *Execution) uint64 {
	blocks := w.Facts.Statement.Blocks
	if len(blocks) == 0 || blocks[0].Limit == nil || blocks[0].Limit.Offset == nil || blocks[0].Limit.Unplaced {
		return 0
	}
	n, _ := plan.LimitNumber(w.Values.Operand(blocks[0].Limit.Offset))
	return n
}

// runsAgain is how often a lost read is repeated. While a server shuts down, another of its connections may be lost as well.
const runsAgain = 3

// repeat runs a statement on its shards, and repeats it up to runsAgain times if it is a read that was lost. A repetition is safe because
// nothing of the read can have taken effect, the client has got no part of an answer, and the session has lost nothing that it had. All
// attempts of a statement count together, also those on other shards.
func (x *Execution) repeat(run func() error) error {
	err := run()
	for x.again < runsAgain && x.mayRunAgain(err) {
		x.again++
		x.Tally.Retried.Add(1)
		x.Replica = false // the primaries this time
		err = run()
	}
	return err
}

// mayRunAgain reports whether err is the error of a read that was lost before any part of its answer arrived. The read had no
// effect, and no transaction was lost with it.
func (x *Execution) mayRunAgain(err error) bool {
	if err == nil || x.Conns.Lost() || x.Conns.LostState() != "" || x.Conns.Running() || x.Context.Err() != nil {
		return false
	}
	lost, ok := errors.AsType[*backend.LostError](err)
	if _, halfway := errors.AsType[*reply.PartialError](err); !ok || halfway {
		return false
	}
	return (!runsCode(x.Facts) || backend.NotSent(lost)) && (!x.Moving || x.Current() == x.Snapshot)
}
