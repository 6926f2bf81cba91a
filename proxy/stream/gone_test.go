package stream

import (
	"crypto/tls"
	"net"
	"testing"
	"time"
)

// pair returns the two ends of a connection over loopback.
func pair(t *testing.T) (near, far net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if near, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if far, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	return near, far
}

func TestPeerGone(t *testing.T) {
	for name, layer := range map[string]func(net.Conn) net.Conn{
		"plain": func(c net.Conn) net.Conn { return c },
		"TLS":   func(c net.Conn) net.Conn { return tls.Server(c, &tls.Config{MinVersion: tls.VersionTLS12}) },
	} {
		t.Run(name, func(t *testing.T) {
			near, far := pair(t)
			c := New(layer(far))
			if c.PeerGone() {
				t.Error("gone while the other side is there")
			}
			if _, err := near.Write([]byte("not yet read")); err != nil {
				t.Fatal(err)
			}
			if c.PeerGone() {
				t.Error("gone because the other side has sent something")
			}
			_ = near.Close()
			for deadline := time.Now().Add(10 * time.Second); !c.PeerGone(); {
				if time.Now().After(deadline) {
					t.Fatal("there after the other side has closed, with bytes unread before its end")
				}
			}
		})
	}
}

func TestPeerGoneOfAClosedConnection(t *testing.T) {
	_, far := pair(t)
	c := New(far)
	_ = c.Close()
	if !c.PeerGone() {
		t.Error("a connection that was closed here has no peer")
	}
}
