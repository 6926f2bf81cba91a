//go:build unix

package stream

import (
	"io"
	"net"
	"os"
	"syscall"
)

// poller reads a socket and needs a buffer only once bytes have arrived. So ten thousand idle clients hold none. It makes the same
// system calls as net.Conn's Read and Write: one attempt, and another each time the descriptor becomes ready.
type poller struct {
	raw     syscall.RawConn
	conn    *Conn
	attempt func(fd uintptr) bool // p.try, made once
	n       int
	err     error

	push    func(fd uintptr) bool // p.tryWrite, made once
	pushing []byte                // remaining bytes to write
	pushErr error
}

// newPoller returns nil for connections that aren't plain sockets. A type that embeds one may read differently, so it doesn't
// qualify.
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
		return nil // already closed: Read will return the error
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

// try reads without waiting. It returns false if nothing was there to read.
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

// write writes all of b. It returns the number of bytes that the system accepted.
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

// tryWrite writes without waiting. It returns false if it must be called again.
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
