package txn

import (
	"locus/proxy/backend"
)

// Stored code may have set variables, which a session goes on seeing on the connection
// where it ran. What the session assigns afterwards must get there though it may be what
// the connection was brought to before.

// statusAutocommit is SERVER_STATUS_AUTOCOMMIT.
const statusAutocommit = 0x0002

// SwitchedOff tells whether autocommit is off on a reserved connection, be it by stored
// code.
func (c *Connections) SwitchedOff() bool {
	return c.reserved.find(func(r *reservation) bool { return r.Conn.Status()&statusAutocommit == 0 }) != nil
}

// Invalidate has the connections on which stored code ran, but for one, be given variables
// anew; undo ends that if a server has refused the values. It is nil if there are none.
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
