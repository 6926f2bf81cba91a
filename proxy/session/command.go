package session

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
)

// dispatch answers one command. An error ends the session; what concerns the
// statement alone is written to the client.
func (s *Session) dispatch(command byte, payload []byte) error {
	switch command {
	case mysql.COM_QUERY:
		return s.query(payload)
	case mysql.COM_STMT_EXECUTE:
		return s.execute(payload)
	case mysql.COM_STMT_PREPARE:
		return s.prepare(payload[1:])
	case mysql.COM_STMT_CLOSE:
		return s.closeStatement(payload)
	case mysql.COM_STMT_RESET:
		return s.resetStatement(payload)
	case mysql.COM_STMT_SEND_LONG_DATA:
		return s.longData(payload)
	case mysql.COM_QUIT:
		return errQuit
	case mysql.COM_PING:
		return s.writeOK(wire.OK{})
	case mysql.COM_INIT_DB:
		return s.answer(s.use(string(payload[1:])))
	case mysql.COM_RESET_CONNECTION:
		s.reset()
		return s.writeOK(wire.OK{})
	case mysql.COM_FIELD_LIST:
		return s.fieldList(payload)
	case mysql.COM_SET_OPTION:
		return s.setOption(payload)
	}
	return s.writeError(fail(erUnknownCommand, stateLink, "%s is not supported", wire.CommandName(command)))
}

// answer writes OK, or the error.
func (s *Session) answer(err error) error {
	if err != nil {
		return s.writeError(err)
	}
	return s.writeOK(wire.OK{})
}

// reset makes the session as it was after login.
func (s *Session) reset() {
	s.rollbackBranches()
	s.carry(s.initial)
	s.mode, s.autocommit = 0, true
	s.insertID, s.warnings = 0, nil
	clear(s.prepared)
}

// setOption knows one option, several statements in one text, and one answer.
func (s *Session) setOption(payload []byte) error {
	const off = 1
	if len(payload) != 3 || payload[1] != off || payload[2] != 0 {
		return s.writeError(fail(erUnknownCommand, stateLink, "several statements in one text are not supported"))
	}
	out, _ := wire.AppendEOF(s.out[:0], s.seq, wire.EOF{Status: s.status()})
	return s.flush(out)
}
