package interrupt

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"locus/proxy/flavor"
	"locus/router"
)

func mariaDB() flavor.Flavor { return flavor.MariaDB }

// fakeConn is a connection, and the pool that it comes from.
type fakeConn struct {
	thread      uint32
	interrupted int
	absorbed    int
	kill        func(ctx context.Context, thread uint32) error
}

func (c *fakeConn) Shard() router.ShardName { return "s0" }
func (c *fakeConn) ThreadID() uint32        { return c.thread }
func (c *fakeConn) Interrupt()              { c.interrupted++ }
func (c *fakeConn) Absorb(context.Context)  { c.absorbed++ }

func (c *fakeConn) KillQuery(ctx context.Context, thread uint32) error {
	if c.kill == nil {
		return nil
	}
	return c.kill(ctx, thread)
}

var errAway = errors.New("the server is away")

func away(context.Context, uint32) error { return errAway }

// fakeClient is a client that sends a command when the test wants it.
type fakeClient struct {
	mu     sync.Mutex
	sends  chan struct{}
	late   chan struct{} // closed while the deadline has passed
	closed chan struct{}
	gone   bool
	closes int
}

func newFakeClient() *fakeClient {
	return &fakeClient{sends: make(chan struct{}, 1), late: make(chan struct{}), closed: make(chan struct{})}
}

func (c *fakeClient) Fill() error {
	c.mu.Lock()
	late := c.late
	c.mu.Unlock()
	select {
	case <-c.sends:
		return nil
	case <-late:
		return os.ErrDeadlineExceeded
	case <-c.closed:
		return net.ErrClosed
	}
}

func (c *fakeClient) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.late:
		if t.IsZero() {
			c.late = make(chan struct{})
		}
	default:
		if !t.IsZero() {
			close(c.late)
		}
	}
	return nil
}

func (c *fakeClient) GiveUp(time.Duration) {}

func (c *fakeClient) PeerGone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gone
}

func (c *fakeClient) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closes++; c.closes == 1 {
		close(c.closed)
	}
	return nil
}

func (c *fakeClient) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closes > 0
}
