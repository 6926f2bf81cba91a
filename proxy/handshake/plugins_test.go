package handshake

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/stream"
	"locus/proxy/wire"
)

func TestCapabilitiesAreThoseAgreedOn(t *testing.T) {
	cfg := config(t)
	cfg.Capabilities = Capabilities &^ mysql.CLIENT_FOUND_ROWS
	s := serve(t, cfg)
	const claimed = rawCapabilities | mysql.CLIENT_SSL | mysql.CLIENT_FOUND_ROWS | mysql.CLIENT_LONG_FLAG | mysql.CLIENT_ODBC
	p := dial(t, s.address)
	p.write(1, loginPacket(claimed, "clear", mysql.AUTH_NATIVE_PASSWORD, p.nativeResponse(password)))
	want := uint32(rawCapabilities | mysql.CLIENT_LONG_FLAG)
	if o := s.outcome(t); o.err != nil || o.client.Capabilities != want {
		t.Errorf("%+v, want capabilities %#x", o, want)
	}
}

func TestAuthSwitch(t *testing.T) {
	s := serve(t, withoutTLS(config(t)))
	for _, plugin := range []string{"mysql_clear_password", "dialog", "", mysql.AUTH_CACHING_SHA2_PASSWORD} {
		p := dial(t, s.address)
		p.write(1, loginPacket(rawCapabilities, "native", plugin, []byte("whatever")))
		if payload, seq := p.read(); !bytes.HasPrefix(payload, []byte("\xfemysql_native_password\x00")) || seq != 2 {
			t.Errorf("%s: %q", plugin, payload)
		}
		p.write(3, p.nativeResponse(password))
		if payload, seq := p.read(); payload[0] != mysql.OK_HEADER || seq != 4 {
			t.Errorf("%s: %q, number %d", plugin, payload, seq)
		}
		if o := s.outcome(t); o.err != nil || o.client.Plugin != mysql.AUTH_NATIVE_PASSWORD {
			t.Error(o)
		}
	}
}

// A client whose plugin differs from the server's sends an empty response, and waits for the nonce of its
// plugin.
func TestDummyResponse(t *testing.T) {
	s := serve(t, withoutTLS(config(t)))
	for user, response := range map[string]func(*peer) []byte{
		"clear": func(p *peer) []byte { return p.nativeResponse(password) },
		"open":  func(*peer) []byte { return nil },
	} {
		p := dial(t, s.address)
		p.write(1, loginPacket(rawCapabilities, user, mysql.AUTH_NATIVE_PASSWORD, nil))
		if payload, _ := p.read(); !bytes.HasPrefix(payload, []byte("\xfemysql_native_password\x00")) {
			t.Errorf("%s: %q", user, payload)
		}
		p.write(3, response(p))
		if payload, _ := p.read(); payload[0] != mysql.OK_HEADER {
			t.Errorf("%s: %q", user, payload)
		}
	}
}

func TestClientsWithoutPlugins(t *testing.T) {
	s := serve(t, withoutTLS(config(t)))
	for user, want := range map[string]string{"clear": "", "native": "", "sha2": "ERROR 1251"} {
		p := dial(t, s.address)
		login := loginPacket(rawCapabilities&^mysql.CLIENT_PLUGIN_AUTH, user, "", p.nativeResponse(password))
		p.write(1, login[:len(login)-1])
		payload, _ := p.read()
		told := ""
		if e, err := wire.ParseERR(payload); err == nil {
			told = e.Error()
		}
		if !strings.HasPrefix(told, want) || (want == "") != (told == "") {
			t.Errorf("%s: %q", user, payload)
		}
	}
}

// A password in clear text is accepted only on a connection that nobody can overhear.
func TestFullPathNeedsSecrecy(t *testing.T) {
	s := serve(t, withoutTLS(config(t)))
	for _, sent := range [][]byte{[]byte(password + "\x00"), []byte(password), make([]byte, 256), {}} {
		p := dial(t, s.address)
		p.write(1, loginPacket(rawCapabilities, "sha2", mysql.AUTH_CACHING_SHA2_PASSWORD, p.sha2Response(password)))
		p.read()
		p.write(3, sent)
		if payload, _ := p.read(); !bytes.Contains(payload, []byte("using password: YES")) {
			t.Errorf("%q: %q", sent, payload)
		}
		p.gone()
	}
}

func TestUnixSocketIsSecret(t *testing.T) {
	listener, err := net.Listen("unix", t.TempDir()+"/s")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	far, err := net.Dial("unix", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	near, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for i, payload := range [][]byte{
			loginPacket(rawCapabilities, "sha2", mysql.AUTH_CACHING_SHA2_PASSWORD, make([]byte, 32)), []byte(password + "\x00"),
		} {
			packet, _ := wire.AppendPacket(nil, byte(1+2*i), payload)
			_, _ = far.Write(packet)
		}
	}()
	client, err := Accept(context.Background(), near, withoutTLS(config(t)))
	if err != nil || client.User != "sha2" || client.NextSeq != 4 {
		t.Errorf("%+v, %v", client, err)
	}
}

func TestNonce(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		nonce := newNonce()
		if bytes.ContainsAny(nonce[:], "\x00$") || slices.Max(nonce[:]) > 0x7f {
			t.Fatalf("%q", nonce)
		}
		seen[string(nonce[:])] = true
	}
	if len(seen) != 1000 {
		t.Errorf("%d different ones of 1000", len(seen))
	}
}

// Some clients send the beginning of the TLS handshake in the same segment as the request for TLS.
func TestTLSBeginsInTheSameSegment(t *testing.T) {
	s := serve(t, config(t))
	p := dial(t, s.address)
	request := binary.LittleEndian.AppendUint32(nil, rawCapabilities|mysql.CLIENT_SSL)
	packet, _ := wire.AppendPacket(nil, 1, append(request, make([]byte, 28)...))
	encrypted := tls.Client(&prefixing{Conn: p.stream.NetConn(), prefix: packet}, trusting(t))
	p.stream = stream.New(encrypted)
	p.write(2, loginPacket(rawCapabilities|mysql.CLIENT_SSL, "clear", mysql.AUTH_CACHING_SHA2_PASSWORD, p.sha2Response(password)))
	if payload, seq := p.read(); payload[1] != mysql.CACHE_SHA2_FAST_AUTH || seq != 3 {
		t.Errorf("%q, number %d", payload, seq)
	}
	if payload, seq := p.read(); payload[0] != mysql.OK_HEADER || seq != 4 {
		t.Errorf("%q, number %d", payload, seq)
	}
}

// prefixing sends prefix together with the first write.
type prefixing struct {
	net.Conn
	prefix []byte
}

func (c *prefixing) Write(b []byte) (int, error) {
	prefix := c.prefix
	c.prefix = nil
	_, err := c.Conn.Write(append(prefix, b...))
	return len(b), err
}
