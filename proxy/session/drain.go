package session

import "github.com/go-mysql-org/go-mysql/mysql"

// A session of a proxy that is to stop ends such that its client can see it before
// it sends anything more: with an answer, in the same packet as that, or when the
// client has wanted nothing for a while. A connection that is closed at any other
// moment may meet a statement on its way, and its sender can't know whether it was
// run.

// Drain has the session end with the answer to a statement that leaves nothing under
// way. It may be called from any goroutine.
func (s *Session) Drain() { s.draining.Store(true) }

// Wanted counts what the client has wanted since Drain, pings left out. It may be
// called from any goroutine.
func (s *Session) Wanted() uint64 { return s.wanted.Load() }

// Dismiss ends a session whose client wants nothing: one with a command under way
// or a transaction goes on. It may be called from any goroutine.
func (s *Session) Dismiss() {
	if s.phase.Load() == idle && !s.txn.held.Load() {
		_ = s.client.Close()
	}
}

// lastWords has the answer to what may be the last command held back, so that the
// end of the connection goes out with it.
func (s *Session) lastWords(command byte) {
	if s.draining.Load() {
		s.holdBack(command)
	}
}

// holdBack does so for statements: behind a COM_PING a pool lends the connection, and
// behind a COM_STMT_PREPARE the execution comes.
func (s *Session) holdBack(command byte) {
	if command == mysql.COM_PING {
		return
	}
	s.wanted.Add(1)
	if command == mysql.COM_QUERY || command == mysql.COM_STMT_EXECUTE {
		s.last = true
		s.client.Cork()
	}
}

// parting tells whether the command that has ended was the session's last.
func (s *Session) parting() bool { return s.last && s.part() }

// part ends what holdBack began: it tells whether the session ends. A client in a
// transaction, with something that it keeps on a shard, or that has sent another command
// already, is served on.
func (s *Session) part() bool {
	s.last = false
	if !s.txn.running() && len(s.holdings) == 0 && s.pins == nil && len(s.client.Unread()) == 0 {
		return true
	}
	s.client.Uncork()
	return false
}
