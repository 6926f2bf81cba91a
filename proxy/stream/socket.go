package stream

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// StalledError means that the peer has not taken, or not sent, a single byte for as long as the connection waits for it.
type StalledError struct {
	Reading bool // Reading: the peer still has to send the rest of a packet or of a file. Otherwise the peer does not read what is sent.
	Limit   time.Duration
}

func (e *StalledError) Error() string {
	if e.Reading {
		return fmt.Sprintf("the client has sent nothing for %v in the middle of a command (net_read_timeout)", e.Limit)
	}
	return fmt.Sprintf("the client has read nothing of its answer for %v (net_write_timeout)", e.Limit)
}

// Timeout makes a StalledError a net.Error.
func (e *StalledError) Timeout() bool { return true }

// Temporary makes a StalledError a net.Error. The connection is unusable.
func (e *StalledError) Temporary() bool { return false }

// Socket is a plain socket whose writes end once the peer has taken nothing for a time. It is below layers such as TLS and compression,
// whose writes end with it. A write that need not wait costs no more than without a limit.
type Socket struct {
	net.Conn
	raw   syscall.RawConn
	limit atomic.Int64 // limit of a wait without progress, in nanoseconds; 0 for none

	push    func(fd uintptr) bool // s.try, made once
	pushing []byte                // remaining bytes to write
	pushErr error
	armed   bool      // a wait has set the deadline
	since   time.Time // when the peer was last seen to take bytes, while armed
	left    int       // bytes to write at that time
	queued  int       // bytes in the system's buffer at that time; negative if unknown
}

// newSocket returns nil for connections that aren't plain sockets. A type that embeds one may write differently, so it doesn't
// qualify.
func newSocket(c net.Conn) *Socket {
	var under syscall.Conn
	switch c := c.(type) {
	case *Socket:
		return c
	case *net.TCPConn:
		under = c
	case *net.UnixConn:
		under = c
	default:
		return nil
	}
	raw, err := under.SyscallConn()
	if err != nil {
		return nil // already closed: Write will return the error
	}
	s := &Socket{Conn: c, raw: raw}
	s.push = s.try
	return s
}

// NetConn returns the socket itself.
func (s *Socket) NetConn() net.Conn { return s.Conn }

// CloseWrite closes the sending half.
func (s *Socket) CloseWrite() error {
	if half, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// LimitWrites makes writes fail with a *StalledError once the peer has taken nothing for d. 0 lifts the limit.
func (s *Socket) LimitWrites(d time.Duration) { s.limit.Store(int64(d)) }

// GiveUp makes a write in progress, and every further one, fail once the peer has taken nothing for d. A wait in progress notices it
// within checkEvery. It may be called from another goroutine.
func (s *Socket) GiveUp(d time.Duration) { s.limit.Store(-int64(d)) }

// Write writes all of b. It returns the number of bytes that the system accepted.
func (s *Socket) Write(b []byte) (int, error) {
	s.pushing, s.pushErr = b, nil
	err := s.raw.Write(s.push)
	for s.armed && errors.Is(err, os.ErrDeadlineExceeded) && s.advances() {
		err = s.raw.Write(s.push)
	}
	if err == nil {
		err = s.pushErr
	}
	if s.armed {
		err = s.disarm(err)
	}
	n := len(b) - len(s.pushing)
	s.pushing = nil
	return n, err
}

// checkEvery is the longest time between two checks whether the peer takes bytes.
const checkEvery = time.Second

// arm begins a wait for the peer, or continues it if the peer has taken nothing since.
func (s *Socket) arm(fd uintptr) {
	if s.limit.Load() == 0 {
		return
	}
	if !s.armed || len(s.pushing) < s.left {
		s.since, s.left, s.queued = time.Now(), len(s.pushing), queued(fd)
	}
	s.armed = true
	s.wait()
}

// wait sets the deadline of the next check.
func (s *Socket) wait() {
	_ = s.Conn.SetWriteDeadline(time.Now().Add(max(min(s.allowed()/8, checkEvery), time.Millisecond)))
}

// allowed returns the time limit. GiveUp may have shortened it.
func (s *Socket) allowed() time.Duration {
	limit := time.Duration(s.limit.Load())
	return max(limit, -limit)
}

// advances reports whether to wait on. A socket counts as writable only once a third of its buffer is free, which takes a slow peer longer
// than any limit. So the bytes are counted that the peer has not taken yet.
func (s *Socket) advances() bool {
	now := time.Now()
	_ = s.raw.Control(func(fd uintptr) {
		if n := queued(fd); n >= 0 && n < s.queued {
			s.since, s.queued = now, n
		}
	})
	if now.Sub(s.since) >= s.allowed() {
		return false
	}
	s.wait()
	return true
}

// disarm ends a wait.
func (s *Socket) disarm(err error) error {
	s.armed = false
	if err == nil {
		return s.Conn.SetWriteDeadline(time.Time{})
	}
	if limit := time.Duration(s.limit.Load()); limit > 0 && errors.Is(err, os.ErrDeadlineExceeded) {
		return &StalledError{Limit: limit}
	}
	return err
}

// LimitWrites makes writes fail with a *StalledError once the peer has taken nothing for d, which is MySQL's net_write_timeout. 0 lifts
// the limit.
func (c *Conn) LimitWrites(d time.Duration) {
	if s := c.base(); s != nil {
		s.LimitWrites(d)
	}
}

// LimitReads makes reads fail with a *StalledError once the peer has sent nothing for d in the middle of a packet, or where More waits
// for it, which is MySQL's net_read_timeout. 0 lifts the limit.
func (c *Conn) LimitReads(d time.Duration) { c.patience = d }

// GiveUp makes a write in progress, and every further one, fail soon after the peer has taken nothing for d. It may be called from
// another goroutine.
func (c *Conn) GiveUp(d time.Duration) {
	if s := c.base(); s != nil {
		s.GiveUp(d)
	}
}

// base returns the socket below all layers, or nil.
func (c *Conn) base() *Socket {
	for conn := c.conn; ; {
		if s, ok := conn.(*Socket); ok {
			return s
		}
		layer, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			return nil
		}
		conn = layer.NetConn()
	}
}
