package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"
	"golang.org/x/sys/unix"
)

const loginPatience = 20 * time.Second

// link is one logged-in connection as a plain file descriptor, outside of Go's poller. The load client polls by
// itself in one thread, in order to use little of the CPU that it shares with what it measures.
type link struct {
	fd       int
	client   *loadClient
	requests []request // one per step
	out      []byte
	in       scanner
}

// protocol is how statements with parameters are sent.
type protocol string

const (
	text     protocol = "text"
	prepared protocol = "prepared"
)

// dial logs in, prepares the statements of the steps, and takes over the socket.
func dial(ctx context.Context, at endpoint, steps []step, p protocol, deprecateEOF bool) (*link, error) {
	conn, err := login(ctx, at, deprecateEOF)
	if err != nil {
		return nil, err
	}
	defer conn.Close() // the link has its own duplicate of the descriptor
	k := &link{in: scanner{deprecateEOF: deprecateEOF}}
	for _, s := range steps {
		r, err := newRequest(s)
		if err != nil {
			return nil, err
		}
		if p == prepared && !s.bare {
			st, err := conn.Prepare(s.prepared())
			if err != nil {
				return nil, fmt.Errorf("prepare %q: %w", s.prepared(), err)
			}
			r.statement = st.ID
		}
		k.requests = append(k.requests, r)
	}
	k.fd, err = duplicate(conn.Conn.Conn)
	return k, err
}

// login connects with go-mysql's client, with small buffers, and without capabilities that would change the packets of
// statements.
func login(ctx context.Context, at endpoint, deprecateEOF bool) (*client.Conn, error) {
	c, err := client.ConnectWithContext(ctx, at.addr, at.user, at.password, at.database, loginPatience,
		func(c *client.Conn) error {
			c.BufferSize = 4096
			c.ReadTimeout, c.WriteTimeout = loginPatience, loginPatience
			c.UnsetCapability(mysql.CLIENT_QUERY_ATTRIBUTES)
			if !deprecateEOF {
				c.UnsetCapability(mysql.CLIENT_DEPRECATE_EOF)
			}
			return c.SetCollation("utf8mb4_general_ci") // the library's default is unknown to MariaDB
		})
	if err != nil {
		return nil, fmt.Errorf("log in at %s: %w", at.addr, err)
	}
	return c, nil
}

// duplicate returns a second, non-blocking descriptor of a TCP connection. The caller closes the first.
func duplicate(c net.Conn) (int, error) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return 0, errors.New("take the socket: not a TCP connection")
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return 0, fmt.Errorf("take the socket: %w", err)
	}
	fd, dupErr := 0, error(nil)
	err = raw.Control(func(old uintptr) { fd, dupErr = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0) })
	if err = errors.Join(err, dupErr); err != nil {
		return 0, fmt.Errorf("take the socket: %w", err)
	}
	return fd, nil
}

// send writes the request of a step. Requests are far smaller than a socket's buffer, which is empty at that time.
func (k *link) send(step int, d *draw) error {
	k.out = k.requests[step].appendTo(k.out[:0], d)
	k.in.begin()
	n, err := unix.Write(k.fd, k.out)
	if err == nil && n < len(k.out) {
		err = io.ErrShortWrite
	}
	return err
}

// close sends COM_QUIT, so that no server counts an aborted client.
func (k *link) close() {
	_, _ = unix.Write(k.fd, []byte{1, 0, 0, 0, comQuit})
	_ = unix.Close(k.fd)
}
