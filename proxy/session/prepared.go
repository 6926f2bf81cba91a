package session

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/snapshot"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// prepared is a statement that the client has prepared. Connections prepare it
// when they first run it.
type prepared struct {
	id        uint32
	text      string
	lexed     stmt.Lexed
	plan      plan.Plan
	under     *catalog.Catalog // the plan holds for this one,
	rights    *plan.Rights     // and for these rights
	read      readThen
	params    int
	added     []added             // of these, by the session itself
	temporary []catalog.TableName // the session's then, which hide others

	types []byte   // the parameters' types as the client last sent them
	long  [][]byte // values that came by COM_STMT_SEND_LONG_DATA
	// held and longHeld are what the statement and these values count for, in bytes.
	// tooLong is why the values were dropped: the execution fails.
	held, longHeld int
	tooLong        error
	cursor         *txn.Cursor // the last, or nil
	sent           string      // the text last run, where it isn't the client's own
}

// mostPrepared bounds a session's statements, and with them its memory.
const mostPrepared = 4096

// prepare answers COM_STMT_PREPARE with what a shard says of the statement.
func (s *Session) prepare(text []byte) error {
	s.vars.Commands[stmt.CountPrepare]++
	if len(s.prepared) >= mostPrepared {
		return s.writeError(wire.Errorf(mysql.ER_MAX_PREPARED_STMT_COUNT_REACHED, "42000", "this session has %d prepared statements: close some", mostPrepared))
	}
	p := &prepared{read: s.reading()}
	defer func() {
		if p.id == 0 { // it wasn't prepared
			s.letGo(p.held)
		}
	}()
	if err := s.read(&p.lexed, bytes.Clone(text)); err != nil {
		return s.writeError(err)
	}
	p.text = string(p.lexed.Text)
	w := s.snapshot()
	if err := s.addParams(w, p); err != nil {
		return s.writeError(err)
	}
	p.params = p.lexed.Params
	if err := s.replan(w, p); err != nil {
		return s.writeError(err)
	}
	sent, there, columns, err := s.preparable(w, p)
	if err == nil {
		err = s.holdPrepared(p)
	}
	switch {
	case err != nil:
		return s.writeError(err)
	case there == nil:
		return s.preparedHere(p, columns)
	}
	return s.preparedThere(w, p, sent, there)
}

// replan makes the plan anew if the tables have changed.
func (s *Session) replan(w *snapshot.Snapshot, p *prepared) error {
	if p.under == w.Catalog && p.rights == s.account.Rights && p.plan != nil && slices.Equal(p.temporary, s.conns.TemporaryTables()) {
		return nil
	}
	made, err := s.planned(w, &p.lexed, s.contextThen(w, &p.read))
	if err != nil {
		return err
	}
	p.plan, p.under, p.rights = made, w.Catalog, s.account.Rights
	p.temporary = slices.Clone(s.conns.TemporaryTables())
	return nil
}

func (s *Session) remember(p *prepared) {
	s.lastStmt++
	p.id = s.lastStmt
	if s.prepared == nil {
		s.prepared = map[uint32]*prepared{}
	}
	s.prepared[p.id] = p
	s.Counts.Prepared.Add(1)
}

func (s *Session) forgetPrepared() {
	s.Counts.Prepared.Add(-int64(len(s.prepared)))
	for _, p := range s.prepared {
		s.forgetLong(p)
		s.letGo(p.held)
	}
	clear(s.prepared)
}

// preparedThere has a shard prepare the statement, for the types of its columns
// and for the errors that only a server finds.
func (s *Session) preparedThere(w *snapshot.Snapshot, p *prepared, text string, there plan.Plan) error {
	shard, statement, answer, err := s.prepareAnywhere(w, there, text)
	if _, lost := errors.AsType[*backend.LostError](err); lost && !s.conns.Lost() {
		statement, answer, err = s.prepareAt(shard, text) // nothing happens by preparing twice
	}
	if err != nil {
		return s.writeError(err)
	}
	if statement.Params != p.params {
		return s.writeError(wire.Errorf(mysql.ER_UNKNOWN_ERROR, wire.StateGeneral, "shard %s counts %d placeholders where locus counts %d: report this statement", shard, statement.Params, p.params))
	}
	s.remember(p)
	out, described := withoutAdded(append(s.client.Out[:0], answer...), statement, p)
	binary.LittleEndian.PutUint32(out[wire.HeaderSize+1:], p.id)
	if s.client.Capabilities&mysql.CLIENT_DEPRECATE_EOF != 0 {
		out = withoutEOFs(out, &described)
	}
	return s.client.Flush(renumbered(out, s.client.Seq))
}

func (s *Session) prepareAt(shard router.ShardName, text string) (*backend.Statement, []byte, error) {
	l, err := s.lendToPrepare(shard)
	if err != nil {
		return nil, nil, err
	}
	statement, answer, err := l.Conn.Prepare(s.ctx, text)
	if err != nil {
		l.Unsent(err)
		return nil, nil, err
	}
	l.Release()
	return statement, answer, nil
}

// lendToPrepare finds a connection on which a write may be prepared, wherever it is
// executed later: MariaDB prepares none in a session that reads only.
func (s *Session) lendToPrepare(shard router.ShardName) (txn.Lease, error) {
	if s.vars.ReadsOnly() {
		settings := s.vars.Settings
		s.vars.Settings = s.vars.Writing()
		defer func() { s.vars.Settings = settings }()
	}
	return s.conns.Acquire(shard, txn.Outside|s.soon)
}

// preparedOn are the shards that have the tables of a plan, any of which may prepare it.
func (s *Session) preparedOn(w *snapshot.Snapshot, p plan.Plan) candidates {
	on, _ := s.conns.Home()
	switch p := p.(type) {
	case *plan.OneShard:
		if p.Alike {
			return s.standIns(w)
		}
		on = p.Shard
	case *plan.InsertQuery:
		if p.Into.Kind == catalog.Single {
			on = p.Into.Shard
		}
	case *plan.Read:
		if p.Gather != nil && p.Gather.Shard != "" {
			on = p.Gather.Shard
		}
	}
	if on == "" {
		return s.standIns(w)
	}
	return candidates{shards: []router.ShardName{on}}
}

// withoutEOFs leaves out what ends the two lists of definitions in the answer to
// COM_STMT_PREPARE.
func withoutEOFs(packets []byte, of *backend.Statement) []byte {
	params := 1 + of.Params // packets up to the end of the first list
	columns := params + min(1, of.Params) + of.Columns
	return without(packets, func(number int) bool {
		return number == params && of.Params > 0 || number == columns && of.Columns > 0
	})
}

// without leaves out those packets whose number, from 0 on, is one to drop.
func without(packets []byte, drop func(number int) bool) []byte {
	out, number := packets[:0], 0
	for at := 0; at < len(packets); number++ {
		length, _ := wire.Header(packets[at:])
		end := at + wire.HeaderSize + length
		if !drop(number) {
			out = append(out, packets[at:end]...)
		}
		at = end
	}
	return out
}

// renumbered gives packets the sequence numbers from seq on.
func renumbered(packets []byte, seq byte) []byte {
	for at := 0; at+wire.HeaderSize <= len(packets); {
		n, _ := wire.Header(packets[at:])
		packets[at+3] = seq
		seq++
		at += wire.HeaderSize + n
	}
	return packets
}

func (s *Session) statement(payload []byte) (*prepared, error) {
	id, err := wire.ParseStatement(payload)
	if err != nil {
		return nil, wire.Errorf(erMalformed, wire.StateGeneral, "%v", err)
	}
	p := s.prepared[id]
	if p == nil {
		return nil, wire.Errorf(erUnknownStmt, wire.StateGeneral, "Unknown prepared statement handler (%d) given to %s", id, wire.CommandName(payload[0]))
	}
	return p, nil
}

// closeStatement forgets a statement; MySQL has no answer to it. Connections
// keep theirs for the next session that prepares the same text.
func (s *Session) closeStatement(payload []byte) error {
	s.vars.Commands[stmt.CountClose]++
	if p, err := s.statement(payload); err == nil {
		p.cursor.Close()
		s.forgetLong(p)
		s.letGo(p.held)
		delete(s.prepared, p.id)
		s.Counts.Prepared.Add(-1)
	}
	return nil
}

func (s *Session) resetStatement(payload []byte) error {
	s.vars.Commands[stmt.CountReset]++
	p, err := s.statement(payload)
	if err != nil {
		return s.writeError(err)
	}
	p.cursor.Close()
	s.forgetLong(p)
	return s.writeOK(wire.OK{})
}

// longData collects a parameter's value; MySQL has no answer to it. What is too
// long makes the execution fail.
func (s *Session) longData(payload []byte) error {
	s.vars.Commands[stmt.CountLongData]++
	data, err := wire.ParseLongData(payload)
	if err != nil {
		return nil
	}
	p := s.prepared[data.Statement]
	if p == nil || int(data.Param) >= p.given() {
		return nil
	}
	if p.tooLong != nil {
		return nil
	}
	if err := s.lengthen(p, int(data.Param), data.Piece); err != nil {
		s.forgetLong(p)
		p.tooLong = err
	}
	return nil
}

// lengthen appends a piece to a parameter's value.
func (s *Session) lengthen(p *prepared, param int, piece []byte) error {
	n := len(piece) + sliceSize*max(0, param+1-len(p.long))
	if err := s.hold(n); err != nil {
		return err
	}
	p.longHeld += n
	if p.longHeld-sliceSize*max(param+1, len(p.long)) > s.MaxStatement {
		return wire.Errorf(mysql.ER_UNKNOWN_ERROR, wire.StateGeneral, "Parameter of prepared statement which is set through mysql_send_long_data() is longer than 'max_allowed_packet' bytes")
	}
	for len(p.long) <= param {
		p.long = append(p.long, nil)
	}
	if p.long[param] == nil {
		p.long[param] = []byte{}
	}
	p.long[param] = append(p.long[param], piece...)
	return nil
}
