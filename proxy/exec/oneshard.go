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

// OneShard sends a statement to a shard and relays the answer, whose end last may change. It repeats a read that was lost if that
// is safe.
func (e *Environment) OneShard(w *Work, p Part, last reply.Ending) error {
	return e.repeat(w, func() error { return e.roundTrip(w, p, last) })
}

// roundTrip sends a statement to one shard and relays the answer. In the usual case it waits twice: for a connection, and for the
// answer, which is relayed as it arrives. In other cases it also waits for the statements that open a transaction (see send), and
// for what is read from the connection afterwards (see takeOver).
func (e *Environment) roundTrip(w *Work, p Part, last reply.Ending) error {
	l, err := e.Conns.Acquire(p.Shard, e.mode(w)) // waits
	if err != nil {
		return err
	}
	if l.Stale() {
		e.markStale(w, l)
	}
	if err := e.send(l, w, p.Text, p.Params); err != nil {
		l.Unsent(err)
		return err
	}
	if err := e.Relay(l.Conn, w.response(), e.flags(w), last); err != nil { // waits
		if txn.IsRefusal(err) {
			l.Refused(0)
		} else {
			l.Lost()
		}
		return err
	}
	e.Observer.Answered(p.Shard)
	a := e.readAnswer(w)
	left := leftBy(w.Facts, a, e.Vars.Autocommit || l.Joined())
	e.takeOver(l, w, a, left)
	if w.Cursor && a.opened() {
		w.Prepared.Cursor = l.Open(e.executed)
	}
	switch {
	case a.Failed:
		l.Refused(a.code)
	case left&metadataLocks != 0:
		e.unlock(l)
	default:
		l.Done(a.status)
	}
	if e.Conns.Lost() { // the answer is out already
		return &reply.PartialError{Err: ErrTransactionLost}
	}
	return nil
}

// ErrTransactionLost is the reason why the client's connection is closed.
var ErrTransactionLost = errors.New("a connection that the session needs was lost")

// mode returns the mode in which the connection for a statement on one shard is acquired.
func (e *Environment) mode(w *Work) txn.Mode {
	m := e.purpose(w)
	if w.Facts.Statement.Effects&stmt.MayEnd != 0 {
		m |= txn.MayEnd
	}
	if e.usesTemporary(w) {
		m |= txn.Temporary
	}
	if w.Cursor {
		m |= txn.Scrolls
	}
	return m
}

// purpose returns the mode in which a statement's connections are acquired, on one shard or several.
func (e *Environment) purpose(w *Work) (m txn.Mode) {
	if w.Outside {
		m |= txn.Outside
	}
	if w.Replica {
		m |= txn.Late
		if e.Vars.Reads == sysvars.OwnReplica {
			m |= txn.SeesOwn
		}
	}
	if w.Stale && !w.Cursor && w.Elsewhere == 0 { // otherwise another shard, with a confirmed primary, may have the rows
		m |= txn.MayBeStale | txn.ReadsOnly
	}
	if MayWrite(w.Facts) {
		m |= txn.Writes
	}
	return m | w.Elsewhere
}

// response returns the kind of the answer to the statement.
func (w *Work) response() wire.ResponseKind {
	if w.Cursor {
		return wire.CursorResponse
	}
	return wire.QueryResponse
}

// Relay relays a shard's answer to the client with additional flags, and records that it was relayed.
func (e *Environment) Relay(c *backend.Conn, kind wire.ResponseKind, flags uint16, last reply.Ending) error {
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
	inserted bool // its OK packet contains an ID
	insertID uint64
}

// opened reports whether the shard has opened a cursor.
func (a *answer) opened() bool { return !a.Failed && a.status&mysql.SERVER_STATUS_CURSOR_EXISTS != 0 }

// readAnswer returns the answer that was just relayed.
func (e *Environment) readAnswer(w *Work) answer {
	seen := &e.Client.Scanner
	ok, has := seen.OK()
	a := answer{status: seen.Status(), warned: seen.Warnings() > 0, inserted: has && ok.LastInsertID != 0, insertID: ok.LastInsertID}
	a.Columns, a.Rows, a.OK, a.Affected = seen.Columns() > 0, uint64(seen.Rows()), has, ok.AffectedRows
	a.Offset = offset(w)
	a.code, a.Failed = seen.ErrCode()
	a.Begun = a.Failed && !beforeBeginning(a.code)
	w.Code = a.code
	return a
}

// offset returns the OFFSET of a query, or 0 if it is not known.
func offset(w *Work) uint64 {
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
func (e *Environment) repeat(w *Work, run func() error) error {
	err := run()
	for w.again < runsAgain && e.mayRunAgain(w, err) {
		w.again++
		e.Tally.Retried.Add(1)
		w.Replica = false // the primaries this time
		err = run()
	}
	return err
}

// mayRunAgain reports whether an error is that of a read that was lost before any part of its answer arrived. Nothing of it can
// have taken effect, and no transaction was lost with it.
func (e *Environment) mayRunAgain(w *Work, err error) bool {
	if err == nil || e.Conns.Lost() || e.Conns.LostState() != "" || e.Conns.Running() || e.Context.Err() != nil {
		return false
	}
	lost, ok := errors.AsType[*backend.LostError](err)
	if _, halfway := errors.AsType[*reply.PartialError](err); !ok || halfway {
		return false
	}
	return (!RunsCode(w.Facts) || backend.NotSent(lost)) && (!w.Moving || e.Snapshot() == w.Snapshot)
}
