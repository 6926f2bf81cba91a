package session

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/sysvars"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// dispatch answers one command. An error ends the session. Errors that concern the statement alone are written to the client.
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
	case mysql.COM_STMT_FETCH:
		return s.fetch(payload)
	case mysql.COM_STMT_RESET:
		return s.resetStatement(payload)
	case mysql.COM_STMT_SEND_LONG_DATA:
		return s.longData(payload)
	case mysql.COM_QUIT:
		return errQuit
	case mysql.COM_PING:
		return s.writeOK(wire.OK{})
	case mysql.COM_INIT_DB:
		s.vars.Commands[stmt.CountChangeDB]++
		return s.answer(s.use(string(payload[1:])))
	case mysql.COM_RESET_CONNECTION:
		s.resetConnection()
		return s.writeOK(wire.OK{})
	case mysql.COM_FIELD_LIST:
		return s.fieldList(payload)
	case mysql.COM_PROCESS_KILL:
		return s.processKill(payload)
	case mysql.COM_SET_OPTION:
		return s.setOption(payload)
	case mysql.COM_CHANGE_USER:
		return s.changeUser(payload)
	case mysql.COM_STATISTICS:
		return s.statistics()
	case mysql.COM_DEBUG:
		return s.writeError(wire.Errorf(mysql.ER_SPECIFIC_ACCESS_DENIED_ERROR, "42000", "Access denied; you need (at least one of) the SUPER privilege(s) for this operation"))
	case mysql.COM_BINLOG_DUMP, mysql.COM_BINLOG_DUMP_GTID, mysql.COM_REGISTER_SLAVE:
		return s.writeError(plan.ReplicationRefused(s.Snapshot().Catalog))
	}
	return s.writeError(unknownCommand())
}

// unknownCommand returns MySQL's error for an unknown command.
func unknownCommand() error { return mysql.NewDefaultError(erUnknownCommand) }

// answer writes an OK, or the error if err is not nil.
func (s *Session) answer(err error) error {
	if err != nil {
		return s.writeError(err)
	}
	return s.writeOK(wire.OK{})
}

// resetConnection resets the session for COM_RESET_CONNECTION. Afterwards the session is as it was after its login, except for
// the current database and FOUND_ROWS(), which MySQL and MariaDB both keep. MySQL also replaces the login's character set and
// collation by the server's own.
func (s *Session) resetConnection() {
	database, found := s.vars.Settings.Database(), s.vars.FoundRows
	s.reset()
	settings := s.initial.WithDatabase(database)
	if w := s.Snapshot(); !w.Flavor.KeepsLoginCharset() && w.Charset != "" {
		settings = settings.WithNames(w.Charset, w.Collation)
	}
	s.engine.Carry(settings)
	s.vars.FoundRows = found
}

// reset restores the state after the login. It rolls back the transaction, and closes prepared statements.
func (s *Session) reset() {
	s.conns.Reset()
	mode := s.Snapshot().Mode
	if s.client.Capabilities&mysql.CLIENT_IGNORE_SPACE != 0 {
		mode |= stmt.IgnoreSpace
	}
	s.vars.Reset(sysvars.Values{Settings: s.vars.Settings, Mode: mode, Autocommit: true, Reads: s.engine.Account.Reads})
	s.engine.Carry(s.initial)
	s.limitWaits()
	s.engine.Unreadable = nil
	s.kept.Reset()
	clear(s.vars.Commands[:])
}

// The options of COM_SET_OPTION.
const (
	multiStatementsOn  = 0
	multiStatementsOff = 1
)

// setOption answers COM_SET_OPTION. The only option is whether a text may contain several statements.
func (s *Session) setOption(payload []byte) error {
	if len(payload) != 3 || payload[2] != 0 {
		return s.writeError(unknownCommand())
	}
	switch payload[1] {
	case multiStatementsOn:
		s.client.Capabilities |= mysql.CLIENT_MULTI_STATEMENTS
	case multiStatementsOff:
		s.client.Capabilities &^= mysql.CLIENT_MULTI_STATEMENTS
	default:
		return s.writeError(unknownCommand())
	}
	out, _ := wire.AppendEnd(s.client.Out[:0], s.client.Seq, wire.OK{Status: s.engine.Status()}, s.client.Capabilities)
	return s.client.Flush(out)
}
