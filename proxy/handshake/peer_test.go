package handshake

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/stream"
	"locus/proxy/wire"
)

// peer is a client whose packets the test determines.
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
	p.nonce = nonceOf(greeting)
	return p
}

// nonceOf finds both parts of the nonce in a greeting.
func nonceOf(greeting []byte) []byte {
	at := bytes.IndexByte(greeting, 0) + 5
	return slices.Concat(greeting[at:at+8], greeting[at+27:at+39])
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
	_, _ = p.stream.Write(packet) // a failure shows in the answer
}

// gone checks that the server has closed the connection and sends nothing more.
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
