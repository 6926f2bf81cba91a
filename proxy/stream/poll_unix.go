//go:build unix

package stream

import (
	"io"
	"os"
	"syscall"
)

// poller reads a socket and needs a buffer only once bytes have arrived. So ten thousand idle clients hold none. It makes the same
// system calls as net.Conn's Read: one attempt, and another each time the descriptor becomes ready.
type poller struct {
	raw     syscall.RawConn
	conn    *Conn
	attempt func(fd uintptr) bool // p.try, made once
	n       int
	err     error
}

// newPoller returns the poller of a plain socket.
func newPoller(s *Socket, conn *Conn) *poller {
	p := &poller{raw: s.raw, conn: conn}
	p.attempt = p.try
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
