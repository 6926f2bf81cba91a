// Package link provides a TCP connection between a test's client and its server that the test can cut, delay,
// or make lose all data, while both ends live. It never inspects the data.
package link

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Link is the only path from a client to a server. It can be cut, and redirected to another server. All methods
// may be called concurrently.
type Link struct {
	listener net.Listener

	mu    sync.Mutex // guards the following fields
	to    string     // empty if cut
	conns map[net.Conn]bool
	// swallows holds, by direction, a channel that is closed when the retained data is delivered; nil if no
	// data is retained.
	swallows [2]chan struct{}
	ended    sync.WaitGroup
	over     chan struct{} // closed when the test ends

	delay atomic.Int64 // of answers, in nanoseconds
}

// Direction is a direction of the data.
type Direction int

const (
	Requests Direction = iota // to the server
	Answers                   // to the client
)

// New returns a link to an address. It ends with the test.
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

// Addr returns the address for clients.
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

// carry copies data both ways until either end or the link is closed.
func (l *Link) carry(client net.Conn) {
	defer client.Close()
	l.pass(Requests) // a TCP handshake needs both directions
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
			l.pass(way.is) // a close is delivered no earlier than the data before it
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

// Lead cuts the connections. New ones go to the given address, or are refused if it is empty.
func (l *Link) Lead(to string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to = to
	for conn := range l.conns {
		_ = conn.Close()
	}
}

// Swallow retains all data in these directions, or in both if none is given. Connections stay open, and new
// ones seem to work, as in a network that loses every packet. Neither data nor a close arrives until Deliver.
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

// Deliver ends Swallow and delivers the retained data.
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

// pass waits until data may pass.
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

// held is a writer for one direction.
type held struct {
	io.Writer
	link *Link
	way  Direction
}

func (w *held) Write(b []byte) (int, error) {
	w.link.pass(w.way)
	return w.Writer.Write(b)
}

// Target returns the address to which new connections go.
func (l *Link) Target() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to
}

// Delay delays each piece of an answer, until it is called with 0.
func (l *Link) Delay(d time.Duration) { l.delay.Store(int64(d)) }

// late is a writer to the client with the link's delay.
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
