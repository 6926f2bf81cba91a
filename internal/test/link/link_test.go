package link

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// pair returns a link, and the client's and the server's end of a connection over it.
func pair(t *testing.T) (l *Link, client, server net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	l = New(t, listener.Addr().String())
	if client, err = net.Dial("tcp", l.Addr()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	if server, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	send(t, client, server, "a")
	send(t, server, client, "b")
	return l, client, server
}

// send writes a text to one end, and reads it at the other.
func send(t *testing.T, from, to net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(from, text); err != nil {
		t.Fatal(err)
	}
	if err := to.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(text))
	if _, err := io.ReadFull(to, got); err != nil || string(got) != text {
		t.Fatalf("%q, %v", got, err)
	}
}

// silent fails if anything arrives at an end, including a close.
func silent(t *testing.T, end net.Conn) {
	t.Helper()
	if err := end.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	var got [1]byte
	n, err := end.Read(got[:])
	if late, is := errors.AsType[net.Error](err); n > 0 || !is || !late.Timeout() {
		t.Errorf("it reads %q, %v", got[:n], err)
	}
	_ = end.SetReadDeadline(time.Time{})
}

// Retained data arrives later, and so does a close.
func TestSwallow(t *testing.T) {
	for _, text := range []string{"", "late"} {
		l, client, server := pair(t)
		l.Swallow()
		if _, err := io.WriteString(client, text); err != nil {
			t.Fatal(err)
		}
		if err := client.Close(); err != nil {
			t.Fatal(err)
		}
		silent(t, server)
		l.Deliver()
		if got, err := io.ReadAll(server); err != nil || string(got) != text {
			t.Errorf("%q, %v", got, err)
		}
	}
}

func TestSwallowOneDirection(t *testing.T) {
	l, client, server := pair(t)
	l.Swallow(Answers)
	send(t, client, server, "heard")
	if _, err := io.WriteString(server, "late"); err != nil {
		t.Fatal(err)
	}
	silent(t, client)
	l.Deliver()
	send(t, client, server, "again")
	got := make([]byte, 4)
	if _, err := io.ReadFull(client, got); err != nil || string(got) != "late" {
		t.Errorf("%q, %v", got, err)
	}
}
