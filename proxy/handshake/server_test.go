package handshake

import (
	"context"
	"encoding/pem"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
)

const (
	password   = "secret"
	nativeHash = "*14E65567ABDB5135D0CFD9A70B3032C179A49EE7"
	// as SHOW CREATE USER of MySQL 9.7 prints it
	sha2Hash = "0x244124303041247B4E5D136F6622582C64477145531C7E3B2B0853702E7075386B4D564765732F364E61732F506D707555346244466D617978" +
		"52776E7A724F66343758376D2F"
)

// identity is made once: RSA keys take their time.
var identity = sync.OnceValues(func() (*Identity, error) {
	key, err1 := newECKey()
	rsaKey, err2 := newRSAKey()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	keyPEM := pem.EncodeToMemory(key)
	cert, err := newCertificate(keyPEM)
	if err != nil {
		return nil, err
	}
	return assemble(pem.EncodeToMemory(cert), keyPEM, pem.EncodeToMemory(rsaKey))
})

func mustHash(t testing.TB, name, hash string) Account {
	t.Helper()
	a, err := WithHash(name, hash)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// everyKind returns a directory with an account of each kind, named after the kind.
func everyKind(t testing.TB) *Directory {
	return NewDirectory(WithPassword("clear", password), WithPassword("open", ""),
		mustHash(t, "native", nativeHash), mustHash(t, "sha2", sha2Hash))
}

func config(t testing.TB) *Config {
	t.Helper()
	id, err := identity()
	if err != nil {
		t.Fatal(err)
	}
	var connections atomic.Uint32
	return &Config{
		ServerVersion: func() string { return "8.4.0-test" },
		ConnectionID:  func() uint32 { return connections.Add(1) },
		Accounts:      everyKind(t), Digests: NewDigests(10), TLS: id.TLS, RSA: id.RSA,
	}
}

func withoutTLS(c *Config) *Config {
	c.TLS = nil
	return c
}

// outcome of a login.
type outcome struct {
	client *Client
	err    error
}

// server accepts logins, and answers every command with OK.
type server struct {
	address  string
	outcomes chan outcome
}

func serve(t testing.TB, cfg *Config) *server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{address: listener.Addr().String(), outcomes: make(chan outcome, 100)}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { s.session(ctx, conn, cfg) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		cancel()
		running.Wait()
	})
	return s
}

func (s *server) session(ctx context.Context, conn net.Conn, cfg *Config) {
	client, err := Accept(ctx, conn, cfg)
	s.outcomes <- outcome{client, err}
	if err != nil {
		return
	}
	stream := client.Stream
	defer stream.Close()
	defer context.AfterFunc(ctx, func() { _ = stream.Close() })()
	out, _ := wire.AppendOK(nil, client.NextSeq, wire.OK{Status: mysql.SERVER_STATUS_AUTOCOMMIT}, client.Capabilities)
	for {
		if _, err := stream.Write(out); err != nil {
			return
		}
		payload, seq, err := stream.Payload()
		if err != nil || payload[0] == mysql.COM_QUIT {
			return
		}
		if payload[0] == mysql.COM_CHANGE_USER {
			client, err = client.ChangeUser(ctx, cfg, payload, seq)
			s.outcomes <- outcome{client, err}
			if err != nil {
				return
			}
			seq = client.NextSeq - 1
		} else {
			stream.Done()
		}
		out, _ = wire.AppendOK(nil, seq+1, wire.OK{Status: mysql.SERVER_STATUS_AUTOCOMMIT}, client.Capabilities)
	}
}

func (s *server) outcome(t testing.TB) outcome {
	t.Helper()
	select {
	case o := <-s.outcomes:
		return o
	case <-time.After(time.Minute):
		t.Fatal("no outcome")
		return outcome{}
	}
}
