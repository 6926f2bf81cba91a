package handshake

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"locus/proxy/stream"
	"locus/proxy/wire"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// peer is a client that says what the test wants.
type peer struct {
	t      testing.TB
	stream *stream.Conn
	nonce  []byte
}

func dial(t testing.TB, address string) *peer {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	p := &peer{t: t, stream: stream.New(conn)}
	greeting, _ := p.read()
	afterVersion := bytes.IndexByte(greeting, 0) + 5
	p.nonce = slices.Concat(greeting[afterVersion:afterVersion+8], greeting[afterVersion+27:afterVersion+39])
	return p
}

func (p *peer) read() (payload []byte, seq byte) {
	p.t.Helper()
	view, seq, err := p.stream.Payload()
	if err != nil {
		p.t.Fatal(err)
	}
	payload = bytes.Clone(view)
	p.stream.Done()
	return payload, seq
}

func (p *peer) write(seq byte, payload []byte) {
	packet, _ := wire.AppendPacket(nil, seq, payload)
	_, _ = p.stream.Write(packet) // the answer tells
}

// gone checks that the server says nothing more and has closed the connection.
func (p *peer) gone() {
	p.t.Helper()
	if err := p.stream.Fill(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		p.t.Errorf("the connection is still there: %q, %v", p.stream.Unread(), err)
	}
}

const rawCapabilities = mysql.CLIENT_PROTOCOL_41 | mysql.CLIENT_SECURE_CONNECTION | mysql.CLIENT_PLUGIN_AUTH

func loginPacket(capabilities uint32, user, plugin string, response []byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, capabilities)
	b = append(b, make([]byte, 28)...)
	b = append(append(b, user...), 0)
	b = append(append(b, byte(len(response))), response...)
	return append(append(b, plugin...), 0)
}

func (p *peer) nativeResponse(password string) []byte {
	return mysql.CalcNativePassword(p.nonce, []byte(password))
}

func (p *peer) sha2Response(password string) []byte {
	return mysql.CalcCachingSha2Password(p.nonce, []byte(password))
}

// transcript plays a client that knows no password but does all that it is asked for, and notes what it is told.
func (p *peer) transcript(user, plugin string) (told []string) {
	response := make([]byte, 20)
	if plugin == mysql.AUTH_CACHING_SHA2_PASSWORD {
		response = make([]byte, 32)
	}
	_, _ = rand.Read(response)
	answer := loginPacket(rawCapabilities, user, plugin, response)
	for seq := byte(1); ; {
		p.write(seq, answer)
		payload, number := p.read()
		seq = number + 1
		switch {
		case wire.IsERR(payload):
			e, _ := wire.ParseERR(payload)
			return append(told, fmt.Sprint(number, strings.ReplaceAll(e.Error(), user, "USER")))
		case payload[0] == mysql.EOF_HEADER:
			named, _, _ := bytes.Cut(payload[1:], []byte{0})
			told = append(told, fmt.Sprint(number, " switch to ", string(named)))
			answer = make([]byte, 20)
			if string(named) == mysql.AUTH_CACHING_SHA2_PASSWORD {
				answer = make([]byte, 32)
			}
		case bytes.Equal(payload, []byte{mysql.MORE_DATE_HEADER, mysql.CACHE_SHA2_FULL_AUTH}):
			told = append(told, fmt.Sprint(number, " full path"))
			answer = []byte{wantPublicKey}
		default:
			told = append(told, fmt.Sprintf("%d %.30q", number, payload))
			answer = p.encrypted(payload[1:], "guess")
		}
	}
}

func (p *peer) encrypted(key []byte, password string) []byte {
	block, _ := pem.Decode(key)
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		p.t.Fatal(err)
	}
	masked := mysql.Xor([]byte(password+"\x00"), p.nonce)
	out, err := rsa.EncryptOAEP(sha1.New(), rand.Reader, public.(*rsa.PublicKey), masked, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

// Nobody learns by guessing who has an account: where all accounts are of one kind, a user without one is treated as one with it.
func TestUnknownUsersLookLikeKnownOnes(t *testing.T) {
	for _, account := range []Account{WithPassword("known", password), mustHash(t, "known", nativeHash), mustHash(t, "known", sha2Hash)} {
		for _, rsaKey := range []bool{true, false} {
			cfg := withoutTLS(config(t))
			cfg.Accounts = NewDirectory(account)
			cfg.Digests.put(account, doubleSHA256([]byte(password)))
			if !rsaKey {
				cfg.RSA = nil
			}
			s := serve(t, cfg)
			for _, plugin := range []string{mysql.AUTH_CACHING_SHA2_PASSWORD, mysql.AUTH_NATIVE_PASSWORD, "dialog"} {
				known, unknown := dial(t, s.address).transcript("known", plugin), dial(t, s.address).transcript("nobody", plugin)
				if fmt.Sprint(known) != fmt.Sprint(unknown) {
					t.Errorf("by %s:\n  known user: %q\nunknown user: %q", plugin, known, unknown)
				}
			}
		}
	}
}

// Not even the password of the account that serves as decoy opens the door for a user without one.
func TestDecoysLetNobodyIn(t *testing.T) {
	for _, account := range []Account{WithPassword("known", password), mustHash(t, "known", nativeHash), WithPassword("known", "")} {
		cfg := withoutTLS(config(t))
		cfg.Accounts = NewDirectory(account)
		s := serve(t, cfg)
		given := password
		if account.open {
			given = ""
		}
		for _, connect := range clients {
			if code, _ := errorCode(connect(t, attempt{address: s.address, user: "nobody", password: given})); code != mysql.ER_ACCESS_DENIED_ERROR {
				t.Errorf("error %d with an account of %+v", code, account)
			}
		}
	}
}

// Nor does the fast path, which somebody with that password would take, give the decoy away.
func TestDecoysTakeTheFullPath(t *testing.T) {
	cfg := withoutTLS(config(t))
	cfg.Accounts = NewDirectory(WithPassword("known", password))
	p := dial(t, serve(t, cfg).address)
	p.write(1, loginPacket(rawCapabilities, "nobody", mysql.AUTH_CACHING_SHA2_PASSWORD, p.sha2Response(password)))
	if payload, _ := p.read(); !bytes.Equal(payload, []byte{mysql.MORE_DATE_HEADER, mysql.CACHE_SHA2_FULL_AUTH}) {
		t.Errorf("%q", payload)
	}
}

func TestCapabilitiesAreThoseAgreedOn(t *testing.T) {
	cfg := config(t)
	cfg.Capabilities = Capabilities &^ mysql.CLIENT_FOUND_ROWS
	s := serve(t, cfg)
	const claimed = rawCapabilities | mysql.CLIENT_SSL | mysql.CLIENT_FOUND_ROWS | mysql.CLIENT_LONG_FLAG | mysql.CLIENT_DEPRECATE_EOF
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

// A client with a plugin of its own sends something empty and waits for that plugin's nonce.
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

// A password in clear is accepted only where nobody can overhear it.
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

func TestChangeUser(t *testing.T) {
	s := serve(t, withoutTLS(config(t)))
	login := func() *peer {
		p := dial(t, s.address)
		p.write(1, loginPacket(rawCapabilities, "clear", mysql.AUTH_NATIVE_PASSWORD, p.nativeResponse(password)))
		if payload, _ := p.read(); payload[0] != mysql.OK_HEADER {
			t.Fatalf("%q", payload)
		}
		if o := s.outcome(t); o.err != nil {
			t.Fatal(o.err)
		}
		return p
	}
	change := func(user, plugin string, response []byte) []byte {
		b := append([]byte{mysql.COM_CHANGE_USER}, user...)
		b = append(b, 0, byte(len(response)))
		b = append(append(b, response...), "other\x00\x2e\x00"...)
		return append(append(b, plugin...), 0)
	}
	t.Run("at once", func(t *testing.T) {
		p := login()
		p.write(0, change("native", mysql.AUTH_NATIVE_PASSWORD, p.nativeResponse(password)))
		if payload, seq := p.read(); payload[0] != mysql.OK_HEADER || seq != 1 {
			t.Errorf("%q, number %d", payload, seq)
		}
		c := s.outcome(t).client
		if c.User != "native" || c.Database != "other" || c.Collation != 46 || c.Capabilities != rawCapabilities {
			t.Errorf("%+v", c)
		}
		p.write(0, []byte{mysql.COM_PING})
		if payload, _ := p.read(); payload[0] != mysql.OK_HEADER {
			t.Errorf("afterwards: %q", payload)
		}
	})
	t.Run("by another plugin", func(t *testing.T) {
		p := login()
		p.write(0, change("native", mysql.AUTH_CACHING_SHA2_PASSWORD, p.sha2Response(password)))
		if payload, seq := p.read(); !bytes.HasPrefix(payload, []byte("\xfemysql_native_password\x00")) || seq != 1 {
			t.Errorf("%q, number %d", payload, seq)
		}
		p.write(2, p.nativeResponse(password))
		if payload, seq := p.read(); payload[0] != mysql.OK_HEADER || seq != 3 {
			t.Errorf("%q, number %d", payload, seq)
		}
	})
	t.Run("refused", func(t *testing.T) {
		p := login()
		p.write(0, change("native", mysql.AUTH_NATIVE_PASSWORD, p.nativeResponse("wrong")))
		if payload, _ := p.read(); !bytes.Contains(payload, []byte("Access denied for user 'native'")) {
			t.Errorf("%q", payload)
		}
		p.gone()
	})
	t.Run("malformed", func(t *testing.T) {
		p := login()
		p.write(0, []byte{mysql.COM_CHANGE_USER, 'x'})
		if payload, _ := p.read(); !bytes.Contains(payload, []byte("Bad handshake")) {
			t.Errorf("%q", payload)
		}
		p.gone()
	})
}

// Some clients send the beginning of TLS along with the request for it.
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

// prefixing sends something before what is written first.
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
