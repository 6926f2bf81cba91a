package stream

import (
	"net"
	"syscall"
)

// PeerGone reports whether the other side has closed the connection, or its half of it, by one system call that doesn't wait. It may
// be called while a read or write waits. Where that can't be found out it is false.
func (c *Conn) PeerGone() bool {
	socket, ok := underneath(c.conn).(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return true // closed by ourselves
	}
	gone := false
	if err := raw.Control(func(fd uintptr) { gone = hungUp(fd) }); err != nil {
		return true
	}
	return gone
}

// underneath is the socket that layers such as TLS stand on.
func underneath(c net.Conn) net.Conn {
	for {
		layer, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return c
		}
		c = layer.NetConn()
	}
}
