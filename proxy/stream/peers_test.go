package stream

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// kinds of connections that a Conn reads from, by different ways.
var kinds = map[string]func(testing.TB) (near, far net.Conn){
	"tcp":  func(t testing.TB) (net.Conn, net.Conn) { return sockets(t, "tcp", "127.0.0.1:0") },
	"unix": func(t testing.TB) (net.Conn, net.Conn) { return sockets(t, "unix", filepath.Join(t.TempDir(), "s")) },
	"tls":  encrypted,
	"pipe": func(testing.TB) (net.Conn, net.Conn) { return net.Pipe() },
}

func sockets(t testing.TB, network, address string) (near, far net.Conn) {
	listener, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if far, err = net.Dial(network, listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if near, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	return near, far
}

// identity is a certificate that no client trusts.
var identity = sync.OnceValues(func() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{cert}, PrivateKey: key}, err
})

func encrypted(t testing.TB) (near, far net.Conn) {
	cert, err := identity()
	if err != nil {
		t.Fatal(err)
	}
	a, b := sockets(t, "tcp", "127.0.0.1:0")
	server := tls.Server(a, &tls.Config{Certificates: []tls.Certificate{cert}})
	client := tls.Client(b, &tls.Config{InsecureSkipVerify: true})
	shaken := make(chan error)
	go func() { shaken <- client.Handshake() }()
	if err := errors.Join(server.Handshake(), <-shaken); err != nil {
		t.Fatal(err)
	}
	return server, client
}

// connect returns a Conn and the connection of its peer. The test waits at its end until the peer has written everything.
func connect(t testing.TB, kind string) (*Conn, net.Conn) {
	near, far := kinds[kind](t)
	t.Cleanup(func() {
		_ = near.Close()
		_ = far.Close()
	})
	c := New(near)
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return c, far
}

// send writes in the background and waits for that at the end of the test.
func send(t testing.TB, far net.Conn, pieces ...[]byte) {
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for _, p := range pieces {
			if _, err := far.Write(p); err != nil {
				return // the test is over
			}
		}
	}()
	t.Cleanup(func() {
		_ = far.Close()
		<-sent
	})
}

func forEachKind(t *testing.T, test func(t *testing.T, kind string)) {
	for kind := range kinds {
		t.Run(kind, func(t *testing.T) { test(t, kind) })
	}
}

// numbered returns n bytes, such that a piece out of place is noticed.
func numbered(n int) []byte {
	pattern := make([]byte, 65_521) // prime
	for i := range pattern {
		pattern[i] = byte(i ^ i>>8)
	}
	return bytes.Repeat(pattern, n/len(pattern)+1)[:n]
}
