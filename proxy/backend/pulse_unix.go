//go:build unix

package backend

import (
	"errors"
	"net"
	"syscall"
)

// pulse checks whether the peer of an idle connection is still there. It peeks at the socket without waiting. An idle
// connection receives nothing. Any bytes are the server's last message ("disconnected because of inactivity", or TLS's
// close_notify).
type pulse struct {
	raw  syscall.RawConn // nil if the connection can't be checked
	look func(fd uintptr)
	byte [1]byte
	err  error // error of the last check
}

func newPulse(c net.Conn) *pulse {
	p := &pulse{}
	if s, ok := c.(syscall.Conn); ok {
		p.raw, _ = s.SyscallConn()
	}
	p.look = func(fd uintptr) { // stored, so that a check allocates nothing
		_, _, p.err = syscall.Recvfrom(int(fd), p.byte[:], syscall.MSG_PEEK)
	}
	return p
}

// alive reports whether the connection is open and silent. It isn't safe for concurrent use.
func (p *pulse) alive() bool {
	if p.raw == nil {
		return true
	}
	if err := p.raw.Control(p.look); err != nil {
		return false
	}
	return errors.Is(p.err, syscall.EAGAIN) || errors.Is(p.err, syscall.EINTR)
}
