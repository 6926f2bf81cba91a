package session

import "github.com/go-mysql-org/go-mysql/mysql"

// A session of a proxy that is to stop ends such that its client can see it before
// it sends anything more: with an answer, in the same packet as that, or when the
// client has wanted nothing for a while. A connection that is closed at any other
// moment may meet a statement on its way, and its sender can't know whether it was
// run.

// holdBack holds back the answer to what may be the last command, so that the end of the
// connection goes out with it. It does so for statements: behind a COM_PING a pool lends
// the connection, and behind a COM_STMT_PREPARE the execution comes.
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

// drained tells whether the command that has ended was the session's last.
func (s *Session) drained() bool { return s.last && s.mayEnd() }

// mayEnd ends what holdBack began: it tells whether the session ends. A client in a
// transaction, with something that it keeps on a shard, or that has sent another command
// already, is served on.
func (s *Session) mayEnd() bool {
	s.last = false
	if !s.conns.Running() && !s.conns.KeepsAny() && len(s.client.Stream.Unread()) == 0 {
		return true
	}
	s.client.Stream.Uncork()
	return false
}
