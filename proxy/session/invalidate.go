package session

import (
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
)

// Stored code may have set variables, which a session goes on seeing on the connection
// where it ran. What the session assigns afterwards must get there though it may be what
// the connection was brought to before.

// ranCode tells whether the session keeps connections on which stored code ran.
func (s *Session) ranCode() bool { return s.pins.has(routine) || s.pins.has(procedure) }

// switchedOff tells whether autocommit is off on one of them, be it by stored code.
func (s *Session) switchedOff() bool {
	return s.pins != nil && slices.ContainsFunc(s.pins.list, func(p pin) bool { return p.conn.Status()&mysql.SERVER_STATUS_AUTOCOMMIT == 0 })
}

// invalidate has those connections, but for one, be given variables anew; undo ends that
// if a server has refused the values. It is nil if there are none.
func (s *Session) invalidate(names []string, but *backend.Conn) (undo func()) {
	if !s.ranCode() {
		return nil
	}
	var undone []func()
	for _, p := range s.pins.list {
		if conn := p.conn; conn != but && p.reasons&(1<<routine|1<<procedure) != 0 {
			before := conn.Invalidate(names)
			undone = append(undone, func() { conn.Revalidate(before) })
		}
	}
	return func() {
		for _, f := range undone {
			f()
		}
	}
}

// Anew implements sysvars.Shard.
func (f firstShard) Anew(names []string) (undo func()) { return f.s.invalidate(names, nil) }
