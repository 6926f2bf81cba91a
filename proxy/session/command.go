package session

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/compressed"
	"locus/proxy/stream"
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
		return s.engine.WriteOK(wire.OK{})
	case mysql.COM_INIT_DB:
		s.vars.Commands[stmt.CountChangeDB]++
		return s.answer(s.use(string(payload[1:])))
	case mysql.COM_RESET_CONNECTION:
		s.resetConnection()
		return s.engine.WriteOK(wire.OK{})
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
	return s.engine.WriteOK(wire.OK{})
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

// refuseUnreadable writes the error for packets that can't be parsed. It returns an error that ends the session, because the
// start of the next command is unknown.
func (s *Session) refuseUnreadable(err error) error {
	s.client.Seq = 1
	switch {
	case errors.Is(err, stream.ErrTooLarge):
		return errors.Join(err, s.writeError(wire.Errorf(erTooLarge, wire.StateLink, "%v: send less at once, or raise proxy.max_statement", err)))
	case errors.Is(err, stream.ErrOutOfOrder), errors.Is(err, compressed.ErrOutOfOrder):
		s.client.Seq = 0 // as MySQL numbers it
		return errors.Join(err, s.writeError(mysql.NewDefaultError(mysql.ER_NET_PACKETS_OUT_OF_ORDER)))
	}
	return err
}

// checkOrder refuses a command whose packets are not numbered from 0. seq is the number of the last packet.
func (s *Session) checkOrder(payload []byte, seq byte) error {
	if s.client.Compressed() {
		return nil
	}
	if due := byte(len(payload) / wire.MaxPayload); seq != due {
		return s.refuseUnreadable(fmt.Errorf("packet %d where %d is due: %w", seq, due, stream.ErrOutOfOrder))
	}
	return nil
}

// When a proxy stops, a session ends at a point at which its client notices the end before it sends another command. The end of
// the connection is sent in the same packet as an answer, or after the client has sent nothing for a while. If a connection is
// closed at any other point, a statement may be in transit, and its client can't know whether it was run.

// holdBack delays the answer to a command that may be the client's last one, so that the end of the connection is sent with
// it. It does so for statements only. After a COM_PING, a pool hands the connection to a caller that will use it. After a
// COM_STMT_PREPARE, the execution follows.
func (s *Session) holdBack(command byte) {
	if command == mysql.COM_PING {
		return
	}
	s.interrupts.Want()
	if command == mysql.COM_QUERY || command == mysql.COM_STMT_EXECUTE {
		s.last = true
		s.client.Stream.Cork()
	}
}

// endsDrained reports whether the command that has ended was the session's last. If it wasn't, it sends the delayed answer.
func (s *Session) endsDrained() bool { return s.last && s.sendHeldBack() }

// sendHeldBack completes holdBack, and reports whether the session ends. The session continues if its client has an open
// transaction, keeps state on a shard, or has already sent another command. Its answer is then sent at once.
func (s *Session) sendHeldBack() bool {
	s.last = false
	if !s.conns.Running() && !s.conns.KeepsAny() && len(s.client.Stream.Unread()) == 0 {
		return true
	}
	s.client.Stream.Uncork()
	return false
}

// statistics answers COM_STATISTICS with one line in MySQL's form, without a header. The values about tables are the shards' own,
// and are 0 here.
func (s *Session) statistics() error {
	uptime := max(1, int(time.Since(s.Began).Seconds()))
	questions := s.Counts.Statements.Load()
	text := fmt.Sprintf("Uptime: %d  Threads: %d  Questions: %d  Slow queries: 0  Opens: 0  Flush tables: 0  Open tables: 0  Queries per second avg: %.3f",
		uptime, s.Clients(), questions, float64(questions)/float64(uptime))
	out, _ := wire.AppendPacket(s.client.Out[:0], s.client.Seq, []byte(text))
	return s.client.Flush(out)
}
