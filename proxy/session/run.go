package session

import (
	"errors"
	"slices"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/reply"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

func uitoa(n uint64) string { return strconv.FormatUint(n, 10) }

// runOn runs a statement on one shard, with what is added to its text, and passes the answer on.
func (s *Session) runOn(r *request, shard router.ShardName, added []plan.Splice) error {
	s.Counts.OneShard.Add(1)
	if err := s.roomFor(r.facts.Statement); err != nil {
		return err
	}
	if r.facts.Statement.Kind == stmt.Lock {
		if err := s.conns.UnlockTables(); err != nil {
			return err
		}
	}
	if r.facts.Statement.Effects&stmt.Commits != 0 {
		if err := s.conns.Commit(); err != nil { // wherever the transaction is
			return err
		}
	}
	text := s.spliced(r, added)
	var last reply.Ending
	r.outside = r.outside || r.facts.Metadata
	switch {
	case r.outside && s.conns.Running():
		last = s.withStatus()
	case s.client.Capabilities&mysql.CLIENT_SESSION_TRACK != 0:
		last = s.telling(r)
	}
	if s.Redefined != nil && r.facts.Writes && s.defines(r) {
		last = s.redefining(last)
		if s.declaresNothing(r) {
			last = s.notingUndeclared(r, last)
		}
	}
	return s.exchange(r, shard, text, nil, last)
}

// spliced gives the statement's text where it isn't the client's own; nil where
// it is. It is a view of a scratch buffer.
func (s *Session) spliced(r *request, added []plan.Splice) []byte {
	if len(added) == 0 {
		return nil
	}
	text, from := r.values.Text, 0
	out := s.command[:0]
	for _, splice := range added {
		at := r.values.Offset(splice.At)
		out = append(append(out, text[from:at]...), splice.Text...)
		from = at
	}
	s.command = append(out, text[from:]...)
	return s.command
}

// edited gives a text with edits. It is a view of a scratch buffer.
func (s *Session) edited(text []byte, edits []exec.Edit) []byte {
	s.command = exec.Edited(s.command[:0], text, edits)
	return s.command
}

// exchange sends a statement to a shard and relays the answer, again if that may be
// done.
func (s *Session) exchange(r *request, shard router.ShardName, text []byte, params []wire.Param, last reply.Ending) error {
	err := s.exchangeOnce(r, shard, text, params, last)
	for again := runsAgain; again > 0 && s.mayRunAgain(r, err); again-- {
		s.Counts.Retried.Add(1)
		s.replica = false // its primary, this time
		err = s.exchangeOnce(r, shard, text, params, last)
	}
	return err
}

// runsCode tells a statement that may change something: it writes, or runs what
// somebody has stored, whether or not that leaves state.
func runsCode(f *plan.Facts) bool {
	return f.Writes || f.Leaves == plan.LeavesRoutine || f.Statement.Features&stmt.UnknownFunction != 0
}

// mayWrite tells whether a statement may change something. A stored function may.
func mayWrite(f *plan.Facts) bool {
	if f.Writes {
		return true
	}
	switch f.Statement.Kind {
	case stmt.Select:
		return runsCode(f)
	case stmt.Show, stmt.Explain:
		return false
	default:
		return true
	}
}

// runsAgain is how often a read that was lost is run again: while a server shuts
// down, another of its connections may be lost too.
const runsAgain = 3

// mayRunAgain tells whether an error is that of a read that was lost before any of
// its answer arrived: nothing of it can have taken effect, and no transaction was
// lost with it.
func (s *Session) mayRunAgain(r *request, err error) bool {
	if err == nil || s.conns.Lost() || s.conns.LostState() != "" || s.conns.Running() || s.ctx.Err() != nil {
		return false
	}
	lost, ok := errors.AsType[*backend.LostError](err)
	if _, halfway := errors.AsType[*reply.PartialError](err); !ok || halfway {
		return false
	}
	return (!runsCode(r.facts) || backend.NotSent(lost)) && (!r.Moving || s.Snapshot() == r.snapshot)
}

// exchangeOnce is the way of a statement to one shard and back. It waits twice: acquireFor for a connection, and relay for
// the answer.
func (s *Session) exchangeOnce(r *request, shard router.ShardName, text []byte, params []wire.Param, last reply.Ending) error {
	l, kind, err := s.acquireFor(r, shard)
	if err != nil {
		return err
	}
	err = s.prepareTextual(l, r)
	if err == nil {
		err = s.send(l, r, text, params)
	}
	if err != nil {
		l.Unsent(err)
		return err
	}
	if err := s.relay(l.Conn, kind, last); err != nil {
		if txn.IsRefusal(err) {
			l.Refused(0)
		} else {
			l.Lost()
		}
		return err
	}
	return s.after(l, r)
}

// acquireFor finds the connection for a statement, and tells what it is answered by.
func (s *Session) acquireFor(r *request, shard router.ShardName) (txn.Lease, wire.ResponseKind, error) {
	m, kind := s.purpose(r), wire.QueryResponse
	if r.facts.Statement.Effects&stmt.MayEnd != 0 {
		m |= txn.MayEnd
	}
	if s.temporary(r) {
		m |= txn.Temporary
	}
	if r.cursor {
		m, kind = m|txn.Scrolls, wire.CursorResponse
	}
	l, err := s.conns.Acquire(shard, m)
	return l, kind, err
}

// send sends what must come before, and the statement, with one write where it
// can; the answers to what came before are read.
func (s *Session) send(l txn.Lease, r *request, text []byte, params []wire.Param) error {
	before := s.before(l, r)
	if err := s.gate.StillLeased(r.Admission); err != nil {
		return err
	}
	if l.Fresh() && r.statement != nil && s.vars.ReadsOnly() {
		if err := s.openFirst(l, before); err != nil {
			return err
		}
		before = nil
	}
	packet, err := s.packet(l.Conn, r, text, params, before)
	if err != nil {
		return err
	}
	s.sentTo(l)
	s.tellLeft(r)
	if err := l.Conn.Send(packet, left(r.facts)); err != nil {
		return err
	}
	for range before {
		if _, err := l.Conn.Outcome(); err != nil {
			return l.Conn.Lost(true, err)
		}
	}
	return nil
}

// openFirst sends what must come before, ahead of a PREPARE: MariaDB prepares no write
// where a transaction could only read, and this one may write.
func (s *Session) openFirst(l txn.Lease, before []string) error {
	for _, text := range before {
		if _, err := l.Conn.Own().Exec(s.ctx, text); err != nil {
			return l.Conn.Lost(true, err)
		}
	}
	l.Opened()
	return nil
}

// before lists the statements that a connection must be sent first.
func (s *Session) before(l txn.Lease, r *request) []string {
	list := l.Opening()
	if r.facts.ReadsInsertID {
		list = append(slices.Clip(list), "SET last_insert_id = "+uitoa(s.vars.InsertID))
	}
	if s.vars.ForcedID != 0 && forcesID(r) {
		l.Conn.Note(backend.State) // a statement that is refused leaves it for the next one
		list = append(slices.Clip(list), "SET insert_id = "+uitoa(s.vars.ForcedID))
	}
	return list
}

// forcesID tells a statement that SET insert_id may have been meant for.
func forcesID(r *request) bool {
	switch r.facts.Statement.Kind {
	case stmt.Insert, stmt.Replace, stmt.LoadData:
		_, one := r.plan.(*plan.OneShard)
		return one
	default:
		return false
	}
}

// packet builds the command for a connection. The client's own packet goes out
// as it came where nothing is to be changed.
func (s *Session) packet(c *backend.Conn, r *request, text []byte, params []wire.Param, before []string) ([]byte, error) {
	if r.statement != nil {
		return s.executePacket(c, r, text, params, before)
	}
	out := s.client.Out[:0]
	for _, b := range before {
		out, _ = wire.AppendCommand(out, mysql.COM_QUERY, []byte(b))
	}
	if text != nil {
		out, _ = wire.AppendCommand(out, mysql.COM_QUERY, text)
	} else {
		out, _ = wire.AppendPacket(out, 0, r.payload)
	}
	s.client.Out = out
	return out, nil
}

// after reads from the answer what the session must know.
func (s *Session) after(l txn.Lease, r *request) error {
	failed := s.noted(l, r)
	if ok, has := s.client.Scanner.OK(); r.facts.KeepsInsertID && (!failed && has && ok.LastInsertID != 0 || r.facts.ReadsInsertID && (!failed || left(r.facts) != backend.Nothing)) {
		s.keepInsertID(l)
	}
	if r.facts.Leaves != plan.LeavesNothing || r.facts.Statement.Features&stmt.CalcFoundRows != 0 {
		s.stay(l, r, failed)
	}
	if s.vars.ForcedID != 0 && forcesID(r) {
		s.vars.ForcedID = 0
	}
	if r.cursor && !failed && s.client.Scanner.Status()&mysql.SERVER_STATUS_CURSOR_EXISTS != 0 {
		r.statement.Cursor = l.Open(s.executed)
	}
	switch {
	case failed:
		l.Refused(r.code)
	case s.leavesLocks(l, r):
		s.unlock(l)
	default:
		l.Done(s.client.Scanner.Status())
	}
	if s.conns.Lost() { // the answer is out already
		return &reply.PartialError{Err: errTransactionLost}
	}
	return nil
}

// noted reads what can be asked about the statement next, and tells whether it has failed.
func (s *Session) noted(l txn.Lease, r *request) (failed bool) {
	s.answered(l.Shard)
	r.code, failed = s.client.Scanner.ErrCode()
	if failed || s.client.Scanner.Warnings() > 0 { // an error is one of them, seldom alone
		s.keepWarnings(l)
	}
	s.count(l, r, failed) // behind them: what is asked of the shard may warn
	return failed
}

// statusOn is the status that an answer ended with. An error tells none: it is then what the connection has said since, to
// whoever asked for its warnings, or said before.
func (s *Session) statusOn(l txn.Lease) uint16 {
	if _, failed := s.client.Scanner.ErrCode(); failed {
		return l.Conn.Status()
	}
	return s.client.Scanner.Status()
}

// keepInsertID asks the connection for LAST_INSERT_ID(), before it is lent to
// somebody else: the OK packet also tells IDs that were given, not generated.
func (s *Session) keepInsertID(l txn.Lease) {
	status := s.statusOn(l)
	rows, err := l.Conn.Own().Query(s.ctx, "SELECT LAST_INSERT_ID()")
	if err != nil || len(rows.Rows) != 1 {
		return
	}
	if id, err := strconv.ParseUint(string(rows.Rows[0][0]), 10, 64); err == nil {
		s.vars.InsertID = id
	}
	l.Conn.SetStatus(status)
}
