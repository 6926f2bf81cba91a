package session

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/sysvars"
	"locus/proxy/txn"
)

// keepWarnings fetches a statement's warnings while the connection is still the
// session's.
func (s *Session) keepWarnings(l txn.Lease) {
	rows, err := l.Conn.Own().Query(s.ctx, sysvars.AskWarnings)
	if err != nil {
		return
	}
	from := len(s.vars.Conditions)
	s.vars.Keep(rows)
	if code, failed := s.client.Scanner.ErrCode(); failed {
		s.vars.NoteState(from, code, s.client.Scanner.ErrState())
	}
}

// noteError keeps what the client is told.
func (s *Session) noteError(e *mysql.MyError) {
	s.timing.code = e.Code
	if t := s.timing.trace; t != nil {
		t.Code = e.Code
	}
	s.vars.Fail(e)
}

// showWarnings answers SHOW WARNINGS and SHOW ERRORS.
func (s *Session) showWarnings(r *request) error {
	columns, rows, err := s.vars.ShowDiagnostics(r.facts.Statement.Shown)
	if err != nil {
		return err
	}
	return s.writeTexts(columns, rows)
}

// diagnose is GET DIAGNOSTICS into user variables. The conditions stay as they are, and
// so does ROW_COUNT().
func (s *Session) diagnose(r *request) error {
	next, err := s.vars.Diagnose(r.facts.Statement.Diagnosing)
	if err == nil {
		err = s.tryOn(next)
	}
	rows := s.vars.RowCount
	defer func() { s.vars.RowCount = rows }()
	return s.answer(err)
}
