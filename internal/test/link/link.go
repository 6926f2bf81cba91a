// Package link owns a TCP connection's way from a test's client to its server, so
// that the test can cut it, slow it down, or have it swallow all that is sent, while both live. It never looks at what it carries.
package link

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Link is the only way from a client to a server. It can be cut, and led to
// another server. All methods may be called concurrently.
type Link struct {
	listener net.Listener

	mu    sync.Mutex // guards what follows
	to    string     // empty: cut
	conns map[net.Conn]bool
	// swallows is closed when what was held back in that direction is delivered; nil: nothing is.
	swallows [2]chan struct{}
	ended    sync.WaitGroup
	over     chan struct{} // closed with the test

	delay atomic.Int64 // of answers, in nanoseconds
}

// Direction is one of the two in which bytes go.
type Direction int

const (
	Requests Direction = iota // to the server
	Answers                   // to the client
)

// New makes a link to an address; it ends with the test.
func New(t testing.TB, to string) *Link {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &Link{listener: listener, to: to, conns: map[net.Conn]bool{}, over: make(chan struct{})}
	l.ended.Go(l.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		close(l.over)
		l.Lead("")
		l.ended.Wait()
	})
	return l
}

// Addr is where clients find it.
func (l *Link) Addr() string { return l.listener.Addr().String() }

func (l *Link) accept() {
	for {
		conn, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.ended.Go(func() { l.carry(conn) })
	}
}

// carry copies both ways until either end or the link is cut.
func (l *Link) carry(client net.Conn) {
	defer client.Close()
	l.pass(Requests) // a connection is made in both directions
	l.pass(Answers)
	l.mu.Lock()
	to := l.to
	l.mu.Unlock()
	if to == "" {
		return
	}
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer server.Close()
	if !l.join(client, server, to) {
		return
	}
	defer l.leave(client, server)
	var both sync.WaitGroup
	for _, way := range []struct {
		to   io.Writer
		from net.Conn
		is   Direction
	}{{&held{server, l, Requests}, client, Requests}, {&late{&held{client, l, Answers}, l}, server, Answers}} {
		both.Go(func() {
			_, _ = io.Copy(way.to, way.from)
			l.pass(way.is) // that one end is closed arrives no earlier than anything else
			_, _ = client.Close(), server.Close()
		})
	}
	both.Wait()
}

func (l *Link) join(a, b net.Conn, to string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to != to {
		return false
	}
	l.conns[a], l.conns[b] = true, true
	return true
}

func (l *Link) leave(a, b net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, a)
	delete(l.conns, b)
}

// Lead cuts the connections; new ones go there, or with an empty address nowhere.
func (l *Link) Lead(to string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to = to
	for conn := range l.conns {
		_ = conn.Close()
	}
}

// Swallow has nothing arrive any more in these directions, or in both if none is named, while all connections stand, and new ones seem
// to: as a network does that loses every packet. Neither what is sent arrives nor that an end is closed, until Deliver.
func (l *Link) Swallow(directions ...Direction) {
	if len(directions) == 0 {
		directions = []Direction{Requests, Answers}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range directions {
		if l.swallows[d] == nil {
			l.swallows[d] = make(chan struct{})
		}
	}
}

// Deliver ends Swallow.
func (l *Link) Deliver() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for d, swallows := range l.swallows {
		if swallows != nil {
			close(swallows)
			l.swallows[d] = nil
		}
	}
}

// pass waits until things arrive.
func (l *Link) pass(d Direction) {
	l.mu.Lock()
	swallows := l.swallows[d]
	l.mu.Unlock()
	if swallows == nil {
		return
	}
	select {
	case <-swallows:
	case <-l.over:
	}
}

// held is one direction.
type held struct {
	io.Writer
	link *Link
	way  Direction
}

func (w *held) Write(b []byte) (int, error) {
	w.link.pass(w.way)
	return w.Writer.Write(b)
}

// Target is where new connections go.
func (l *Link) Target() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to
}

// Delay has each piece of an answer come so much later, until it is called with 0.
func (l *Link) Delay(d time.Duration) { l.delay.Store(int64(d)) }

// late is what clients read, after the link's delay.
type late struct {
	io.Writer
	link *Link
}

func (w *late) Write(b []byte) (int, error) {
	if d := time.Duration(w.link.delay.Load()); d > 0 {
		<-time.After(d)
	}
	return w.Writer.Write(b)
}
