//go:build unix

package backend

import (
	"errors"
	"net"
	"syscall"
)

// pulse looks whether the other side of an idle connection is still there, by peeking at the socket without waiting. An
// idle connection has nothing to say: bytes are the server's farewell ("disconnected because of inactivity", or TLS's
// close_notify), and an end is an end.
type pulse struct {
	raw  syscall.RawConn // nil: can't be asked
	look func(fd uintptr) bool
	byte [1]byte
	err  error // of the last look
}

func newPulse(c net.Conn) *pulse {
	p := &pulse{}
	if s, ok := c.(syscall.Conn); ok {
		p.raw, _ = s.SyscallConn()
	}
	p.look = func(fd uintptr) bool { // kept, so that asking allocates nothing
		_, _, p.err = syscall.Recvfrom(int(fd), p.byte[:], syscall.MSG_PEEK)
		return true
	}
	return p
}

// alive reports whether the connection is open and silent. Not for concurrent use.
func (p *pulse) alive() bool {
	if p.raw == nil {
		return true
	}
	if err := p.raw.Read(p.look); err != nil {
		return false
	}
	return errors.Is(p.err, syscall.EAGAIN) || errors.Is(p.err, syscall.EINTR)
}
