package stream

import "syscall"

// Cork has the system hold back the last, incomplete segment of what is written:
// until Uncork, or until the connection is closed, whose end then travels in the
// same segment. Where that can't be had nothing is held back.
func (c *Conn) Cork() { c.setCork(1) }

// Uncork sends what Cork holds back.
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
