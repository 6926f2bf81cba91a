package session

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/kept"
	"locus/proxy/snapshot"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// prepare answers COM_STMT_PREPARE with a shard's answer for the statement.
func (s *Session) prepare(text []byte) error {
	s.vars.Commands[stmt.CountPrepare]++
	s.kept.SetRecent(nil)
	if err := s.kept.Full(); err != nil {
		return s.writeError(err)
	}
	p := &kept.Statement{Reading: s.reading()}
	defer s.kept.Release(p)
	if err := s.read(&p.Lexed, bytes.Clone(text)); err != nil {
		return s.writeError(err)
	}
	p.Text = string(p.Lexed.Text)
	w := s.snapshot()
	if err := s.addParams(w, p); err != nil {
		return s.writeError(err)
	}
	p.Params, p.Stored = p.Lexed.Params, stmt.StoredParams(&p.Lexed)
	w, err := s.replan(w, p)
	if err != nil {
		return s.writeError(err)
	}
	sent, shardPlan, columns, err := s.preparable(w, p)
	if err == nil {
		err = s.kept.Hold(p)
	}
	switch {
	case err != nil:
		return s.writeError(err)
	case shardPlan == nil:
		err = s.prepareLocally(p, columns)
	default:
		err = s.prepareOnShard(w, p, sent, shardPlan)
	}
	if p.ID != 0 && w.Flavor.NumbersRecentStatement() {
		s.kept.SetRecent(p)
	}
	return err
}

// replan makes a new plan if the tables have changed. It returns the snapshot under which the plan must run.
func (s *Session) replan(w *snapshot.Snapshot, p *kept.Statement) (*snapshot.Snapshot, error) {
	if p.Under == w.Catalog && p.Rights == s.engine.Account.Rights && p.Shard == s.vars.Shard && p.Plan != nil && slices.Equal(p.Temporary, s.conns.TemporaryTables()) {
		return w, nil
	}
	made, w, err := s.planned(w, &p.Lexed, s.preparedContext(w, &p.Reading))
	if err != nil {
		return w, err
	}
	p.Plan, p.Under, p.Rights, p.Shard = made, w.Catalog, s.engine.Account.Rights, s.vars.Shard
	p.Temporary = slices.Clone(s.conns.TemporaryTables())
	return w, nil
}

// prepareOnShard prepares the statement on a shard, which returns the types of its columns and the errors that only a server
// finds.
func (s *Session) prepareOnShard(w *snapshot.Snapshot, p *kept.Statement, text string, shardPlan plan.Plan) error {
	shard, statement, answer, err := s.prepareAnywhere(w, shardPlan, text)
	if _, lost := errors.AsType[*backend.LostError](err); lost && !s.conns.Lost() {
		statement, answer, err = s.prepareAt(shard, 0, text) // preparing twice has no effect
	}
	if err != nil {
		return s.writeError(err)
	}
	if statement.Params != p.Params {
		return s.writeError(wire.Errorf(mysql.ER_UNKNOWN_ERROR, wire.StateGeneral, "shard %s counts %d placeholders where locus counts %d: report this statement", shard, statement.Params, p.Params))
	}
	s.kept.Add(p)
	out, described := withoutAdded(append(s.client.Out[:0], answer...), statement, p)
	binary.LittleEndian.PutUint32(out[wire.HeaderSize+1:], p.ID)
	if s.client.Capabilities&mysql.CLIENT_DEPRECATE_EOF != 0 {
		out = withoutEOFs(out, &described)
	}
	patchStatuses(out, s.engine.Status())
	return s.client.Flush(renumbered(out, s.client.Seq))
}

// prepareAnywhere prepares a statement on a shard that has the tables of its plan. It returns the shard, its prepared statement,
// and its answer.
func (s *Session) prepareAnywhere(w *snapshot.Snapshot, p plan.Plan, text string) (shard router.ShardName, statement *backend.Statement, answer []byte, err error) {
	err = s.engine.Anywhere(s.preparedAmong(w, p), true, func(at router.ShardName, how txn.Mode) (err error) {
		shard = at
		statement, answer, err = s.prepareAt(at, how, text)
		return err
	})
	return shard, statement, answer, err
}

// prepareAt prepares a text on one shard. It returns the prepared statement and the shard's answer.
func (s *Session) prepareAt(shard router.ShardName, how txn.Mode, text string) (*backend.Statement, []byte, error) {
	l, err := s.acquireToPrepare(shard, how)
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

// acquireToPrepare acquires a connection on which a write may be prepared, wherever the write is executed later. MariaDB prepares
// no write in a read-only session.
func (s *Session) acquireToPrepare(shard router.ShardName, how txn.Mode) (txn.Lease, error) {
	settings := s.vars.Settings
	if s.vars.ReadsOnly() {
		settings = s.vars.Writing()
	}
	return s.conns.AcquireAs(shard, txn.Outside|txn.Describes(how), settings)
}

// preparedAmong returns the shards that have the tables of a plan. Any of them may prepare it.
func (s *Session) preparedAmong(w *snapshot.Snapshot, p plan.Plan) exec.Candidates {
	on := s.singleOf(w, p)
	switch p := p.(type) {
	case *plan.OneShard:
		if p.Alike {
			return s.engine.StandIns(w)
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
		on, _ = s.conns.Home()
	}
	if on == "" {
		return s.engine.StandIns(w)
	}
	return exec.Candidates{Shards: []router.ShardName{on}}
}

// singleOf returns the shard of a table that the statement names and that no other shard has. Such a table is a single table, or
// an undeclared one. singleOf returns "" if the statement names none.
func (s *Session) singleOf(w *snapshot.Snapshot, p plan.Plan) router.ShardName {
	for _, named := range p.About().Statement.Tables {
		name := plan.FullName(named, s.vars.Settings.Database())
		if slices.Contains(s.conns.TemporaryTables(), name) {
			continue
		}
		switch t, err := w.Catalog.Find(name); {
		case err != nil:
		case t == nil:
			return w.Catalog.First()
		case t.Kind == catalog.Single:
			return t.Shard
		}
	}
	return ""
}

// patchStatuses sets the status flags of the packets that end lists of definitions. The session's flags replace those of the
// connection, which takes no part in the session's transaction.
func patchStatuses(packets []byte, status uint16) {
	for len(packets) > 0 {
		length, _ := wire.Header(packets)
		if end := wire.HeaderSize + length; wire.IsEOF(packets[wire.HeaderSize:end]) {
			_ = wire.PatchStatus(packets[:end], mysql.SERVER_STATUS_AUTOCOMMIT|mysql.SERVER_STATUS_IN_TRANS, status) // an EOF has status flags
		}
		packets = packets[wire.HeaderSize+length:]
	}
}

// withoutEOFs removes the packets that end the two lists of definitions in the answer to COM_STMT_PREPARE.
func withoutEOFs(packets []byte, of *backend.Statement) []byte {
	params := 1 + of.Params // packets up to the end of the first list
	columns := params + min(1, of.Params) + of.Columns
	return withoutPackets(packets, func(number int) bool {
		return number == params && of.Params > 0 || number == columns && of.Columns > 0
	})
}

// withoutPackets removes the packets for whose number, counted from 0, drop returns true.
func withoutPackets(packets []byte, drop func(number int) bool) []byte {
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

// renumbered sets the sequence numbers of packets. The first one gets seq.
func renumbered(packets []byte, seq byte) []byte {
	for at := 0; at+wire.HeaderSize <= len(packets); {
		n, _ := wire.Header(packets[at:])
		packets[at+3] = seq
		seq++
		at += wire.HeaderSize + n
	}
	return packets
}

// closeStatement forgets a statement. The command has no answer. Connections keep their prepared statement for the next session
// that prepares the same text.
func (s *Session) closeStatement(payload []byte) error {
	s.vars.Commands[stmt.CountClose]++
	if p, err := s.kept.Find(payload); err == nil {
		s.kept.Close(p)
	}
	return nil
}

// resetStatement answers COM_STMT_RESET. It closes the statement's cursor and forgets its long parameters.
func (s *Session) resetStatement(payload []byte) error {
	s.vars.Commands[stmt.CountReset]++
	p, err := s.kept.Find(payload)
	if err != nil {
		return s.writeError(err)
	}
	p.Cursor.Close()
	s.kept.ForgetLong(p)
	return s.engine.WriteOK(wire.OK{})
}

// longData collects a parameter's value. The command has no answer. If a value is too long, the execution fails.
func (s *Session) longData(payload []byte) error {
	s.vars.Commands[stmt.CountLongData]++
	if data, err := wire.ParseLongData(payload); err == nil {
		s.kept.Lengthen(data)
	}
	return nil
}

// wantsCursor reports whether an execution requests a cursor, and the statement can have one.
func wantsCursor(e wire.Execute, p *kept.Statement) bool {
	return e.Cursor&mysql.CURSOR_TYPE_READ_ONLY != 0 && p.Plan.About().Statement.Kind == stmt.Select && !p.Plan.About().Writes
}

// fetch answers COM_STMT_FETCH. Statements that follow the opening of a cursor don't use the cursor's connection.
func (s *Session) fetch(payload []byte) error {
	s.vars.Commands[stmt.CountFetch]++
	p, err := s.kept.Find(payload)
	if err != nil {
		return s.writeError(err)
	}
	f, err := wire.ParseFetch(payload)
	if err != nil {
		return s.writeError(wire.Errorf(wire.ErMalformed, wire.StateGeneral, "%v", err))
	}
	from := p.Cursor.Conn()
	if from == nil {
		return s.writeError(wire.Errorf(erNoCursor, wire.StateGeneral, "The statement (%d) has no open cursor.", p.ID))
	}
	f.Statement = p.Cursor.There.ID
	s.client.Out = wire.AppendFetch(s.client.Out[:0], f)
	err = from.Send(s.client.Out, backend.Nothing)
	if err == nil {
		err = s.engine.Relay(from, wire.RowsResponse, 0, s.engine.WithSessionStatus)
	}
	if err != nil {
		p.Cursor.Lost()
		return s.finish(err)
	}
	status := s.client.Scanner.Status()
	if _, failed := s.client.Scanner.ErrCode(); failed || status&mysql.SERVER_STATUS_LAST_ROW_SEND != 0 {
		p.Cursor.Close()
	}
	return nil
}
