package stream

import (
	"net"
	"syscall"
)

// PeerGone reports whether the peer has closed the connection, or its half of it. It makes one system call that doesn't wait, and
// may be called while a read or write blocks. It returns false where the system can't tell.
func (c *Conn) PeerGone() bool {
	socket, ok := underneath(c.conn).(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return true // we closed it ourselves
	}
	gone := false
	if err := raw.Control(func(fd uintptr) { gone = hungUp(fd) }); err != nil {
		return true
	}
	return gone
}

// underneath returns the socket below layers such as TLS.
func underneath(c net.Conn) net.Conn {
	for {
		layer, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return c
		}
		c = layer.NetConn()
	}
}
