//go:build servers

package backend

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"locus/internal/test/servers"
)

// freezing relays to a server until a client sends the given text. It never relays an answer to that text or to later ones.
func freezing(t *testing.T, to, text string) (addr string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				_ = client.Close()
				continue
			}
			t.Cleanup(func() { _, _ = client.Close(), server.Close() })
			go func() { _, _ = io.Copy(client, server) }()
			go relayUntil(client, server, []byte(text))
		}
	}()
	return listener.Addr().String()
}

func relayUntil(from io.Reader, to io.Writer, text []byte) {
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		if err != nil || bytes.Contains(buf[:n], text) {
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// A login ends in time wherever the server stops answering, even after the password was accepted.
func TestALoginEndsInTimeWhereverTheServerFreezes(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := servers.Shared(t, engine, 1)[0]
		for _, at := range []string{"program_name", "GET_LOCK"} {
			frozen := target(s)
			frozen.Addr, frozen.Mark = freezing(t, s.Addr(), at), "locus:frozen:"
			ended := make(chan error, 1)
			go func() {
				_, err := login(t.Context(), frozen, 0, 200*time.Millisecond)
				ended <- err
			}()
			select {
			case err := <-ended:
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("frozen at %s: %v", at, err)
				}
			case <-time.After(time.Minute):
				t.Fatalf("frozen at %s: the login never ends", at)
			}
		}
	})
}
