package session

import "github.com/go-mysql-org/go-mysql/mysql"

// When a proxy stops, a session ends at a point at which its client notices the end before it sends another command. The end of
// the connection is sent in the same packet as an answer, or after the client has sent nothing for a while. If a connection is
// closed at any other point, a statement may be in transit, and its client can't know whether it was run.

// holdBack delays the answer to what may be the last command, so that the end of the connection is sent with it. It does so for
// statements only. After a COM_PING, a pool hands the connection to a caller that will use it. After a COM_STMT_PREPARE, the
// execution follows.
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

// sendHeldBack decides what holdBack has left open, and reports whether the session ends. The session continues if its client has
// an open transaction, keeps state on a shard, or has already sent another command. Its answer is sent at once then.
func (s *Session) sendHeldBack() bool {
	s.last = false
	if !s.conns.Running() && !s.conns.KeepsAny() && len(s.client.Stream.Unread()) == 0 {
		return true
	}
	s.client.Stream.Uncork()
	return false
}
