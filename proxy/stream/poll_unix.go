//go:build unix

package stream

import (
	"io"
	"net"
	"os"
	"syscall"
)

// poller reads a socket such that a buffer is needed only once there are bytes: ten thousand idle clients hold none. It makes the
// same system calls as net.Conn's Read and Write: one attempt, and another one after each time the descriptor was found to be ready.
type poller struct {
	raw     syscall.RawConn
	conn    *Conn
	attempt func(fd uintptr) bool // p.try, made once
	n       int
	err     error

	push    func(fd uintptr) bool // p.tryWrite, made once
	pushing []byte                // what is left to write
	pushErr error
}

// newPoller returns nil for connections that aren't plain sockets. Types that embed one may read otherwise, and aren't.
func newPoller(c net.Conn, conn *Conn) *poller {
	var socket syscall.Conn
	switch c := c.(type) {
	case *net.TCPConn:
		socket = c
	case *net.UnixConn:
		socket = c
	default:
		return nil
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil // closed already: Read will say so
	}
	p := &poller{raw: raw, conn: conn}
	p.attempt, p.push = p.try, p.tryWrite
	return p
}

// read waits for bytes and puts them into the buffer.
func (p *poller) read() (n int, err error) {
	if err := p.raw.Read(p.attempt); err != nil {
		return 0, err
	}
	return p.n, p.err
}

// try reads without waiting, and says whether that settled it.
func (p *poller) try(fd uintptr) bool {
	n, errno := readNow(fd, p.conn.room())
	for errno == syscall.EINTR {
		n, errno = readNow(fd, p.conn.room())
	}
	p.n, p.err = max(n, 0), nil
	switch {
	case errno == syscall.EAGAIN:
		p.conn.Release()
		return false
	case errno != 0:
		p.err = os.NewSyscallError("read", errno)
	case n == 0:
		p.err = io.EOF
	default:
		p.conn.got(n)
	}
	return true
}

// write writes all of b, and returns how much of it the system has taken.
func (p *poller) write(b []byte) (int, error) {
	p.pushing, p.pushErr = b, nil
	err := p.raw.Write(p.push)
	if err == nil {
		err = p.pushErr
	}
	n := len(b) - len(p.pushing)
	p.pushing = nil
	return n, err
}

// tryWrite writes without waiting, and says whether that settled it.
func (p *poller) tryWrite(fd uintptr) bool {
	for len(p.pushing) > 0 {
		n, errno := writeNow(fd, p.pushing)
		switch errno {
		case 0:
			p.pushing = p.pushing[n:]
		case syscall.EINTR:
		case syscall.EAGAIN:
			return false
		default:
			p.pushErr = os.NewSyscallError("write", errno)
			return true
		}
	}
	return true
}
