package stream

import "syscall"

// Cork makes the system hold back the last, incomplete segment of written data. It is sent at Uncork, or together with
// the FIN when the connection is closed. On systems without this option nothing is held back.
func (c *Conn) Cork() { c.setCork(1) }

// Uncork sends the data that Cork held back.
func (c *Conn) Uncork() { c.setCork(0) }

func (c *Conn) setCork(on int) {
	socket, ok := underneath(c.conn).(syscall.Conn)
	if !ok {
		return
	}
	if raw, err := socket.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { cork(fd, on) })
	}
}
