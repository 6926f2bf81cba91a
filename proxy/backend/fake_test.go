package backend

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/stream"
	"locus/proxy/wire"
)

// fakeServer answers every command with OK, USE nosuch with 1049, and "shut down" with 1053. Its logins can be held up and fail.
type fakeServer struct {
	mu       sync.Mutex
	logins   []string // addresses, in order
	open     int
	mostOpen int
	failure  error         // the error of all later logins
	gate     chan struct{} // logins take one from it, if it isn't nil
	commands []string      // the commands of all connections, in order
	threads  uint32
	serving  sync.WaitGroup
	ends     []net.Conn // the server's
}

func (f *fakeServer) dial(ctx context.Context, t Target, prof Profile, timeout time.Duration) (*Conn, error) {
	f.mu.Lock()
	f.logins = append(f.logins, t.Addr)
	gate := f.gate
	f.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return nil, &LoginError{Shard: t.Shard, Addr: t.Addr, User: t.User, Err: context.Cause(ctx)}
		case <-time.After(timeout):
			return nil, &LoginError{Shard: t.Shard, Addr: t.Addr, User: t.User, Err: context.DeadlineExceeded}
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failure != nil {
		return nil, &LoginError{Shard: t.Shard, Addr: t.Addr, User: t.User, Err: f.failure}
	}
	near, far := net.Pipe()
	f.threads++
	f.open++
	f.mostOpen = max(f.mostOpen, f.open)
	f.ends = append(f.ends, far)
	f.serving.Go(func() { f.serve(far) })
	c := newConn(stream.New(near), near, t, prof)
	c.threadID = f.threads
	return c, nil
}

func (f *fakeServer) serve(c net.Conn) {
	defer func() {
		f.mu.Lock()
		f.open--
		f.mu.Unlock()
		_ = c.Close()
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := c.Read(buf) // a whole Write of the client's, as long as that is short
		if err != nil {
			return
		}
		answer := f.answer(buf[:n])
		if _, err := c.Write(answer); err != nil {
			return
		}
	}
}

func (f *fakeServer) answer(commands []byte) (answer []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(commands) > 0 {
		n, _ := wire.Header(commands)
		payload := commands[wire.HeaderSize : wire.HeaderSize+n]
		commands = commands[wire.HeaderSize+n:]
		f.commands = append(f.commands, wire.CommandName(payload[0])+" "+string(payload[1:]))
		switch {
		case payload[0] == mysql.COM_INIT_DB && string(payload[1:]) == "nosuch":
			answer, _ = wire.AppendERR(answer, 1, &mysql.MyError{Code: 1049, State: "42000", Message: "Unknown database 'nosuch'"}, Capabilities)
		case payload[0] == mysql.COM_QUERY && string(payload[1:]) == "shut down":
			answer, _ = wire.AppendERR(answer, 1, &mysql.MyError{Code: mysql.ER_SERVER_SHUTDOWN, State: "08S01", Message: "Server shutdown in progress"}, Capabilities)
		case payload[0] == mysql.COM_QUERY && string(payload[1:]) == "BEGIN":
			answer, _ = wire.AppendOK(answer, 1, wire.OK{Status: mysql.SERVER_STATUS_IN_TRANS}, Capabilities)
		default:
			answer, _ = wire.AppendOK(answer, 1, wire.OK{Status: mysql.SERVER_STATUS_AUTOCOMMIT}, Capabilities)
		}
	}
	return answer
}

func (f *fakeServer) set(failure error, gate chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failure, f.gate = failure, gate
}

// take returns the commands received since the last call.
func (f *fakeServer) take() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	taken := f.commands
	f.commands = nil
	return taken
}

func (f *fakeServer) loggedIn() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.logins)
}

var testTarget = Target{Shard: "s7", Addr: "db7:3306", User: "proxy"}

// fakePool returns a pool on a fake server. At the end of the test all connections must have been returned.
func fakePool(t *testing.T, l Limits) (*Pool, *fakeServer, *bytes.Buffer) {
	t.Helper()
	f, logged := &fakeServer{}, &bytes.Buffer{}
	p := newPool(testTarget, l, slog.New(slog.NewTextHandler(logged, nil)), f.dial)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := p.Close(ctx); err != nil {
			t.Errorf("at the end of the test: %v", err)
		}
		f.serving.Wait()
	})
	return p, f, logged
}

func borrow(t *testing.T, p *Pool, want *Settings, prof Profile) *Conn {
	t.Helper()
	c, err := p.Borrow(t.Context(), want, prof)
	if err != nil {
		t.Fatal(err)
	}
	if c.Settings() != want {
		t.Errorf("carries %v, want %v", c.Settings(), want)
	}
	return c
}
