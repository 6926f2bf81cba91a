package txn

import (
	"locus/proxy/backend"
)

// Stored code may have set variables. The session continues to see them on the connection where it ran. A value that the session assigns later
// must be sent to that connection, even if the connection had the same value before the stored code ran.

// statusAutocommit is SERVER_STATUS_AUTOCOMMIT.
const statusAutocommit = 0x0002

// SwitchedOff reports whether autocommit is off on a reserved connection, for example because stored code switched it off.
func (c *Connections) SwitchedOff() bool {
	return c.reserved.find(func(r *reservation) bool { return r.Conn.Status()&statusAutocommit == 0 }) != nil
}

// Invalidate makes the connections on which stored code ran, except one, receive the named variables again. undo reverts that, for a server that
// refused the values. undo is nil if there are no such connections.
func (c *Connections) Invalidate(names []string, but *backend.Conn) (undo func()) {
	if !c.Reserved(Routine) && !c.Reserved(Procedure) {
		return nil
	}
	var undone []func()
	for _, r := range c.reserved.list {
		if conn := r.Conn; conn != but && (r.has(Routine) || r.has(Procedure)) {
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
