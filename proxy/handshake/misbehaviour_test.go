package handshake

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
)

func framed(seq byte, payload []byte) []byte {
	b, _ := wire.AppendPacket(nil, seq, payload)
	return b
}

func TestMisbehaviourIsAnswered(t *testing.T) {
	tlsRequest := append([]byte{0x0d, 0xaa, 0xbf, 0}, make([]byte, 28)...)
	for name, c := range map[string]struct {
		sent []byte
		code uint16
		seq  byte
	}{
		"HTTP":                        {[]byte("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"), mysql.ER_NET_PACKET_TOO_LARGE, 1},
		"nonsense":                    {framed(1, []byte("hello")), mysql.ER_HANDSHAKE_ERROR, 2},
		"an empty packet":             {framed(1, nil), mysql.ER_HANDSHAKE_ERROR, 2},
		"a wrong number":              {framed(0, loginPacket(rawCapabilities, "clear", "", nil)), mysql.ER_NET_PACKETS_OUT_OF_ORDER, 1},
		"too much":                    {framed(1, make([]byte, 20_000)), mysql.ER_NET_PACKET_TOO_LARGE, 1},
		"very much":                   {framed(1, make([]byte, wire.MaxPayload+1)), mysql.ER_NET_PACKET_TOO_LARGE, 1},
		"protocol before 4.1":         {framed(1, loginPacket(mysql.CLIENT_SECURE_CONNECTION, "clear", "", nil)), mysql.ER_HANDSHAKE_ERROR, 2},
		"a request for TLS":           {framed(1, tlsRequest), mysql.ER_HANDSHAKE_ERROR, 2},
		"attributes that are garbage": {framed(1, withAttributes("\x05\x7fxxxx")), mysql.ER_HANDSHAKE_ERROR, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, withoutTLS(config(t)))
			p := dial(t, s.address)
			go func() { _, _ = p.stream.Write(c.sent) }()
			payload, seq := p.read()
			e, err := wire.ParseERR(payload)
			if err != nil || e.Code != c.code || seq != c.seq {
				t.Errorf("told %v, number %d, %v; want error %d, number %d", e, seq, err, c.code, c.seq)
			}
			p.gone()
			_ = p.stream.Close()
			var told *mysql.MyError
			if o := s.outcome(t); !errors.As(o.err, &told) || told.Code != c.code {
				t.Error(o.err)
			}
		})
	}
}

// A client that is still writing when it is refused isn't cut off: it would see a broken connection in place of the error.
func TestRefusedWhileStillTalking(t *testing.T) {
	near, far := net.Pipe()
	accepted, told := make(chan error, 1), make(chan []byte, 1)
	go func() {
		_, err := Accept(t.Context(), near, withoutTLS(config(t)))
		accepted <- err
	}()
	go func() {
		all, _ := io.ReadAll(far)
		told <- all
	}()
	for range 10 {
		if _, err := far.Write(framed(1, make([]byte, 90_000))); err != nil {
			t.Error(err)
		}
	}
	_ = far.Close()
	if err := <-accepted; err == nil {
		t.Error("let in")
	}
	if all := <-told; !bytes.Contains(all, []byte("#08S01Got a packet bigger than")) {
		t.Errorf("%q", all)
	}
}

func withAttributes(block string) []byte {
	return append(loginPacket(rawCapabilities|mysql.CLIENT_CONNECT_ATTRS, "clear", "", nil), block...)
}

func TestAttributesAreBounded(t *testing.T) {
	var block []byte
	for i := range 100 {
		block = wire.AppendLenBytes(block, []byte{'k', byte(i)})
		block = wire.AppendLenBytes(block, []byte("v"))
	}
	login := loginPacket(rawCapabilities|mysql.CLIENT_CONNECT_ATTRS, "open", mysql.AUTH_CACHING_SHA2_PASSWORD, nil)
	s := serve(t, withoutTLS(config(t)))
	dial(t, s.address).write(1, wire.AppendLenBytes(login, block))
	if o := s.outcome(t); o.err != nil || len(o.client.Attributes) != maxAttributes {
		t.Errorf("%+v", o)
	}
}

func TestClientGoesAway(t *testing.T) {
	s := serve(t, config(t))
	for sent, want := range map[string]error{
		"":                 io.EOF,
		"\x05":             io.ErrUnexpectedEOF,
		"\x05\x00\x00\x01": io.ErrUnexpectedEOF,
		string(framed(1, append([]byte{0x0d, 0xaa, 0xbf, 0}, make([]byte, 28)...))): io.EOF, // in the middle of TLS
	} {
		p := dial(t, s.address)
		_, _ = p.stream.Write([]byte(sent))
		_ = p.stream.Close()
		if o := s.outcome(t); !errors.Is(o.err, want) {
			t.Errorf("after %q: %v, want %v", sent, o.err, want)
		}
	}
}

func TestGarbageInPlaceOfTLS(t *testing.T) {
	s := serve(t, config(t))
	p := dial(t, s.address)
	p.write(1, append([]byte{0x0d, 0xaa, 0xbf, 0}, make([]byte, 28)...))
	_, _ = p.stream.Write(bytes.Repeat([]byte("garbage"), 10))
	if o := s.outcome(t); o.err == nil || !strings.Contains(o.err.Error(), "TLS") {
		t.Error(o.err)
	}
	for p.stream.Fill() == nil { // a TLS alert
	}
}

// The server closes the connection of a client that stops sending, at whatever point, when its time has
// expired.
func TestSilentClients(t *testing.T) {
	for name, sent := range map[string][]byte{
		"from the start":           nil,
		"in the midst of a packet": {9, 0},
		"in the midst of TLS":      framed(1, append([]byte{0x0d, 0xaa, 0xbf, 0}, make([]byte, 28)...)),
		"in the full path":         framed(1, loginPacket(rawCapabilities, "sha2", mysql.AUTH_CACHING_SHA2_PASSWORD, make([]byte, 32))),
	} {
		t.Run(name, func(t *testing.T) {
			near, far := net.Pipe()
			ctx, cancel := context.WithCancelCause(t.Context())
			accepted := make(chan error)
			go func() {
				_, err := Accept(ctx, near, config(t))
				accepted <- err
			}()
			greeting := make([]byte, 500)
			if _, err := far.Read(greeting); err != nil {
				t.Fatal(err)
			}
			if _, err := far.Write(sent); err != nil {
				t.Fatal(err)
			}
			late := errors.New("too late")
			cancel(late)
			go func() { _, _ = io.Copy(io.Discard, far) }()
			if err := <-accepted; !errors.Is(err, late) {
				t.Error(err)
			}
			if _, err := near.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("the connection is still open: %v", err)
			}
		})
	}
}

// A client that is merely slow gets in.
func TestSlowClient(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	go func() {
		greeting := make([]byte, 500)
		n, _ := far.Read(greeting)
		p := &peer{t: t, nonce: nonceOf(greeting[wire.HeaderSize:n])}
		for _, b := range framed(1, loginPacket(rawCapabilities, "clear", mysql.AUTH_NATIVE_PASSWORD, p.nativeResponse(password))) {
			_, _ = far.Write([]byte{b})
		}
	}()
	if client, err := Accept(t.Context(), near, config(t)); err != nil || client.User != "clear" {
		t.Errorf("%+v, %v", client, err)
	}
}

// A context that ends when the login is already over leaves the connection alone.
func TestContextEndsAfterLogin(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = far.Read(make([]byte, 500))
		_, _ = far.Write(framed(1, loginPacket(rawCapabilities, "open", mysql.AUTH_CACHING_SHA2_PASSWORD, nil)))
	}()
	client, err := Accept(ctx, near, withoutTLS(config(t)))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	go func() { _, _ = far.Write(framed(0, []byte{mysql.COM_PING})) }()
	if payload, _, err := client.Stream.Payload(); err != nil || payload[0] != mysql.COM_PING {
		t.Errorf("%q, %v", payload, err)
	}
}

// Accept returns and doesn't panic, whatever a client sends.
func FuzzAccept(f *testing.F) {
	login := loginPacket(rawCapabilities, "clear", mysql.AUTH_NATIVE_PASSWORD, make([]byte, 20))
	f.Add(framed(1, login))
	f.Add(append(framed(1, loginPacket(rawCapabilities, "sha2", mysql.AUTH_CACHING_SHA2_PASSWORD, make([]byte, 32))), framed(3, []byte{2})...))
	f.Add(append(framed(1, loginPacket(rawCapabilities, "native", "dialog", nil)), framed(3, make([]byte, 20))...))
	f.Add(framed(1, withAttributes("\x04\x01k\x01v")))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	cfg := withoutTLS(config(f))
	f.Fuzz(func(t *testing.T, sent []byte) {
		near, far := net.Pipe()
		said := make(chan struct{})
		go func() {
			defer close(said)
			_, _ = far.Write(sent)
			_ = far.Close()
		}()
		go func() { _, _ = io.Copy(io.Discard, far) }()
		client, err := Accept(t.Context(), near, cfg)
		if err == nil && client.User != "open" {
			t.Errorf("%q was let in", client.User)
		}
		_ = near.Close()
		<-said
	})
}
