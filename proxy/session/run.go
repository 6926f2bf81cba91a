package session

import (
	"errors"
	"slices"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

func uitoa(n uint64) string { return strconv.FormatUint(n, 10) }

// runOn runs a statement on one shard and passes the answer on.
func (s *Session) runOn(r *request, shard router.ShardName) error {
	s.Counts.OneShard.Add(1)
	if s.pins != nil {
		if err := s.pins.oneMore(r.plan.Statement); err != nil {
			return err
		}
	}
	if r.plan.Statement.Kind == stmt.Lock {
		if err := s.unlockTables(); err != nil {
			return err
		}
	}
	if r.plan.Statement.Effects&stmt.Commits != 0 {
		if err := s.commit(); err != nil { // wherever the transaction is
			return err
		}
	}
	text := spliced(r, s)
	var last ending
	r.outside = r.outside || r.plan.Metadata
	switch {
	case r.outside && s.txn.running():
		last = s.withStatus()
	case s.capabilities&mysql.CLIENT_SESSION_TRACK != 0:
		last = s.telling(r)
	}
	if s.Redefined != nil && r.plan.Writes && s.defines(r) {
		last = s.redefining(shard, last)
	}
	return s.exchange(r, shard, text, nil, last)
}

// spliced gives the statement's text where it isn't the client's own; nil where
// it is. It is a view of a scratch buffer.
func spliced(r *request, s *Session) []byte {
	added := r.plan.Added
	if !r.foreign.Empty() {
		added = slices.Concat(added, r.plan.Owned.Splices(r.foreign))
	}
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

// exchange sends a statement to a shard and relays the answer, again if that may be
// done.
func (s *Session) exchange(r *request, shard router.ShardName, text []byte, params []wire.Param, last ending) error {
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
func runsCode(p *plan.Plan) bool {
	return p.Writes || p.Leaves == plan.LeavesRoutine || p.Statement.Features&stmt.UnknownFunction != 0
}

// runsAgain is how often a read that was lost is run again: while a server shuts
// down, another of its connections may be lost too.
const runsAgain = 3

// mayRunAgain tells whether an error is that of a read that was lost before any of
// its answer arrived: nothing of it can have taken effect, and no transaction was
// lost with it.
func (s *Session) mayRunAgain(r *request, err error) bool {
	if err == nil || s.txn.lost || s.lostPins != "" || s.txn.running() || s.ctx.Err() != nil {
		return false
	}
	lost, ok := errors.AsType[*backend.LostError](err)
	if _, halfway := errors.AsType[*partial](err); !ok || halfway {
		return false
	}
	return (!runsCode(r.plan) || backend.NotSent(lost)) && (!r.Moving || s.World() == r.world)
}

func (s *Session) exchangeOnce(r *request, shard router.ShardName, text []byte, params []wire.Param, last ending) error {
	l, kind, err := s.lendFor(r, shard)
	if err != nil {
		return err
	}
	if s.Spanning == XA && l.joined && !l.xa && len(s.txn.branches) > 1 && r.plan.Statement.Effects&stmt.MayEnd != 0 {
		return endsByItself(shard)
	}
	if l.xa && !r.world.Flavor.HasTemporaryWithinXA() && s.temporary(r) {
		s.unused(l)
		return temporaryWithin(s.txn.branches[0].shard, shard)
	}
	l = s.writing(l, r)
	err = s.prepareTextual(l, r)
	if err == nil {
		err = s.send(l, r, text, params)
	}
	if err != nil {
		return s.unsent(l, err)
	}
	if err := s.relay(l.conn, kind, last); err != nil {
		if refused(err) {
			s.doneUntold(l, 0, true)
		} else {
			s.lose(l)
		}
		return err
	}
	s.answered(l.shard)
	return s.after(l, r)
}

// lendFor finds the connection for a statement, and tells what it is answered by.
func (s *Session) lendFor(r *request, shard router.ShardName) (lease, wire.ResponseKind, error) {
	if r.cursor {
		l, err := s.lendForCursor(shard, r.outside)
		return l, wire.CursorResponse, err
	}
	l, err := s.lend(shard, r.outside)
	return l, wire.QueryResponse, err
}

// unsent takes back what a statement could not be sent on. What a server has refused
// is its PREPARE: neither the statement nor an opening has left.
func (s *Session) unsent(l lease, err error) error {
	if refused(err) {
		s.unused(l)
		return err
	}
	s.lose(l)
	return err
}

// send sends what must come before, and the statement, with one write where it
// can; the answers to what came before are read.
func (s *Session) send(l lease, r *request, text []byte, params []wire.Param) error {
	before := s.before(l, r)
	if err := s.gate.StillLeased(r.Admission); err != nil {
		return err
	}
	if l.fresh && r.statement != nil && s.vars.ReadsOnly() {
		if err := s.openFirst(l, before); err != nil {
			return err
		}
		before = nil
	}
	packet, err := s.packet(l.conn, r, text, params, before)
	if err != nil {
		return err
	}
	s.sentTo(l.branch)
	s.tellLeft(r)
	if err := l.conn.Send(packet, left(r.plan)); err != nil {
		return err
	}
	for range before {
		if _, err := s.outcome(l.conn); err != nil {
			return l.conn.Lost(true, err)
		}
	}
	return nil
}

// openFirst sends what must come before, ahead of a PREPARE: MariaDB prepares no write
// where a transaction could only read, and this one may write.
func (s *Session) openFirst(l lease, before []string) error {
	for _, text := range before {
		if _, err := l.conn.Own().Exec(s.ctx, text); err != nil {
			return l.conn.Lost(true, err)
		}
	}
	if b := s.txn.on(l.shard); b != nil {
		b.opened = true
	}
	return nil
}

// before lists the statements that a connection must be sent first.
func (s *Session) before(l lease, r *request) []string {
	next := s.txn.next != "" && !s.txn.begun && !l.joined && !r.outside
	forces := s.vars.ForcedID != 0 && forcesID(r)
	if !l.fresh && !r.plan.ReadsInsertID && !next && !forces {
		return nil
	}
	if next || forces { // a statement that is refused, or has no use for it, leaves it for the next one
		l.conn.Note(backend.State)
	}
	var list []string
	switch {
	case l.fresh:
		list = s.txn.opening
		if l.xa {
			list = s.txn.openingXA()
		}
	case next:
		list, s.txn.toldNext = []string{s.txn.next}, l.conn
	}
	if r.plan.ReadsInsertID {
		list = append(slices.Clip(list), "SET last_insert_id = "+uitoa(s.vars.InsertID))
	}
	if forces {
		list = append(slices.Clip(list), "SET insert_id = "+uitoa(s.vars.ForcedID))
	}
	return list
}

// forcesID tells a statement that SET insert_id may have been meant for.
func forcesID(r *request) bool {
	switch r.plan.Statement.Kind {
	case stmt.Insert, stmt.Replace, stmt.LoadData:
		return r.plan.Place == plan.Fixed
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
	out := s.out[:0]
	for _, b := range before {
		out, _ = wire.AppendCommand(out, mysql.COM_QUERY, []byte(b))
	}
	if text != nil {
		out, _ = wire.AppendCommand(out, mysql.COM_QUERY, text)
	} else {
		out, _ = wire.AppendPacket(out, 0, r.payload)
	}
	s.out = out
	return out, nil
}

// after reads from the answer what the session must know.
func (s *Session) after(l lease, r *request) error {
	code, failed := s.scanner.ErrCode()
	r.code = code
	if failed || s.scanner.Warnings() > 0 { // an error is one of them, seldom alone
		s.keepWarnings(l)
	}
	s.count(l, r, failed) // behind them: what is asked of the shard may warn
	if ok, has := s.scanner.OK(); r.plan.KeepsInsertID && (!failed && has && ok.LastInsertID != 0 || r.plan.ReadsInsertID && (!failed || left(r.plan) != backend.Nothing)) {
		s.keepInsertID(l)
	}
	if r.plan.Leaves != plan.LeavesNothing || r.plan.Statement.Features&stmt.CalcFoundRows != 0 {
		s.stay(l, r, failed)
	}
	if s.vars.ForcedID != 0 && forcesID(r) {
		s.vars.ForcedID = 0
	}
	if r.cursor && !failed && s.scanner.Status()&mysql.SERVER_STATUS_CURSOR_EXISTS != 0 {
		s.openCursor(l, r.statement, s.executed)
	}
	switch {
	case failed:
		s.doneUntold(l, code, r.plan.Statement.Effects&stmt.MayEnd != 0)
	case s.leavesLocks(l, r):
		s.unlock(l)
	default:
		s.done(l, s.scanner.Status())
	}
	if s.txn.lost { // the answer is out already
		return &partial{errTransactionLost}
	}
	return nil
}

// keepInsertID asks the connection for LAST_INSERT_ID(), before it is lent to
// somebody else: the OK packet also tells IDs that were given, not generated.
func (s *Session) keepInsertID(l lease) {
	status := s.scanner.Status()
	rows, err := l.conn.Own().Query(s.ctx, "SELECT LAST_INSERT_ID()")
	if err != nil || len(rows.Rows) != 1 {
		return
	}
	if id, err := strconv.ParseUint(string(rows.Rows[0][0]), 10, 64); err == nil {
		s.vars.InsertID = id
	}
	l.conn.SetStatus(status)
}
