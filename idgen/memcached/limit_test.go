package memcached

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"locus/idgen"
	"locus/idgen/segment"
)

// silent is a server that accepts connections and never answers.
type silent struct {
	net.Listener
	requested chan struct{} // one token for each connection on which bytes arrived
	reads     sync.WaitGroup
	mu        sync.Mutex // guards opened
	opened    []net.Conn
}

func newSilent(t *testing.T) *silent {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &silent{Listener: l, requested: make(chan struct{}, 100)}
	s.reads.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.opened = append(s.opened, conn)
			s.mu.Unlock()
			s.reads.Go(func() {
				var one [1]byte
				if _, err := conn.Read(one[:]); err == nil {
					s.requested <- struct{}{}
				}
				_, _ = io.Copy(io.Discard, conn)
			})
		}
	})
	return s
}

func (s *silent) end() {
	_ = s.Close()
	s.mu.Lock()
	for _, conn := range s.opened {
		_ = conn.Close()
	}
	s.mu.Unlock()
	s.reads.Wait()
}

// A caller leaves an unresponsive server when its time is over, although the command itself has an hour. A
// caller that waits for the next block leaves too.
func TestACallersLimitIsKept(t *testing.T) {
	for _, why := range []error{context.Canceled, context.DeadlineExceeded} {
		server := newSilent(t)
		g := New([]string{server.Addr().String()}, &always{}, "orders", Options{Timeout: time.Hour})
		left := make(chan error, 2)
		ctx, cancel := context.WithCancelCause(t.Context())
		for range 2 {
			go func() {
				_, err := idgen.One(ctx, g)
				left <- err
			}()
		}
		<-server.requested
		cancel(why)
		for range 2 {
			if err := <-left; !errors.Is(err, why) {
				t.Errorf("%v, want %v", err, why)
			}
		}
		server.end() // which ends the command
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
}

// always grants the first block.
type always struct{}

func (*always) Extend(_ context.Context, _ string, n uint64) (segment.Grant, error) {
	return segment.Grant{First: 1, Last: n}, nil
}
