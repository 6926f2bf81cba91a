package session

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/kept"
	"locus/proxy/wire"
	"locus/router/stmt"
)

// wantsCursor reports whether an execution requests a cursor, and the statement can have one.
func wantsCursor(e wire.Execute, p *kept.Statement) bool {
	return e.Cursor&mysql.CURSOR_TYPE_READ_ONLY != 0 && p.Plan.About().Statement.Kind == stmt.Select && !p.Plan.About().Writes
}

// fetch answers COM_STMT_FETCH. The connection of a cursor takes no part in what the session does after the cursor was opened.
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
		err = s.engine.Relay(from, wire.RowsResponse, 0, s.engine.Retold)
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
