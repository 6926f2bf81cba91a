package backend

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
)

// badServer sends a greeting to one client, reads the client's answer, and sends rest.
func badServer(t *testing.T, greeting, rest []byte) Target {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = conn.Write(greeting)
		_, _ = conn.Read(make([]byte, 4096))
		_, _ = conn.Write(rest)
		_, _ = conn.Read(make([]byte, 1)) // until the client closes
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-served
	})
	return Target{Shard: "s7", Addr: listener.Addr().String(), User: "proxy", Password: func() (string, error) { return "x", nil }}
}

func TestAServerThatBreaksTheProtocol(t *testing.T) {
	good, _ := wire.AppendGreeting(nil, wire.Greeting{
		ServerVersion: "9.7.0", Capabilities: Capabilities, Plugin: mysql.AUTH_NATIVE_PASSWORD,
	})
	ok, next := wire.AppendOK(nil, 2, wire.OK{}, Capabilities)
	twice, _ := wire.AppendOK(ok, next, wire.OK{}, Capabilities)
	for about, says := range map[string]struct {
		greeting, rest []byte
		want           string
	}{
		"cut short":           {[]byte{2, 0, 0, 0, 10, 'x'}, nil, "malformed"},
		"more than an answer": {good, twice, "more than the answer"},
	} {
		c, err := login(t.Context(), badServer(t, says.greeting, says.rest), 0, time.Minute)
		if err == nil {
			c.close()
		}
		if _, ok := errors.AsType[*LoginError](err); !ok || !strings.Contains(err.Error(), says.want) {
			t.Errorf("%s: %v", about, err)
		}
	}
	c, err := login(t.Context(), badServer(t, good, ok), 0, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	c.close()
}

func TestALoginEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the client has gone")
	silent := badServer(t, nil, nil)
	password := silent.Password
	silent.Password = func() (string, error) {
		cancel(gone)
		return password()
	}
	if _, err := login(ctx, silent, 0, time.Minute); !errors.Is(err, gone) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := login(t.Context(), badServer(t, nil, nil), 0, 10*time.Millisecond); !errors.Is(err, context.DeadlineExceeded) ||
		!strings.Contains(err.Error(), "firewall") {
		t.Errorf("no greeting in time: %v", err)
	}
}
