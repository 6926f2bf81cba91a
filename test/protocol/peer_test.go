package protocol

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/stream"
	"locus/proxy/wire"
)

// classic are the capabilities of a client of MySQL 5.
const classic = mysql.CLIENT_PROTOCOL_41 | mysql.CLIENT_SECURE_CONNECTION | mysql.CLIENT_PLUGIN_AUTH |
	mysql.CLIENT_LONG_FLAG | mysql.CLIENT_TRANSACTIONS | mysql.CLIENT_MULTI_RESULTS | mysql.CLIENT_PS_MULTI_RESULTS | mysql.CLIENT_CONNECT_WITH_DB

// endpoint is an address with a user.
type endpoint struct {
	name, addr, user, password, schema string
}

// packet is a packet that a peer has read.
type packet struct {
	seq     byte
	payload []byte
}

func (p packet) String() string { return fmt.Sprintf("%3d %q", p.seq, p.payload) }

// patience is the time limit of a command. Commands of 16 MiB take long on a busy machine.
const patience = 2 * time.Minute

// peer is a client whose packets the test determines.
type peer struct {
	t            testing.TB
	at           endpoint
	stream       *stream.Conn
	nonce        []byte
	capabilities uint32
	extended     uint32 // MariaDB's extended capabilities, as far as the server offers them
	welcome      packet // the OK of the login
}

// login logs in with the plugin that the server requests.
func login(t testing.TB, at endpoint, capabilities uint32) *peer {
	t.Helper()
	return loginExtended(t, at, capabilities, 0)
}

// loginExtended also requests MariaDB's extended capabilities, as far as the server offers them.
func loginExtended(t testing.TB, at endpoint, capabilities, extended uint32) *peer {
	t.Helper()
	return loginCollated(t, at, capabilities, extended, 45)
}

// loginCollated also sends the number of a collation.
func loginCollated(t testing.TB, at endpoint, capabilities, extended uint32, collation byte) *peer {
	t.Helper()
	conn, err := net.Dial("tcp", at.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	p := &peer{t: t, at: at, stream: stream.New(conn), capabilities: capabilities}
	greeting := p.read().payload
	p.extended = extended & extendedIn(greeting)
	offered := offeredIn(greeting)
	if missing := capabilities &^ offered; missing != 0 {
		t.Fatalf("%s does not offer %#x of %#x", at.name, missing, capabilities)
	}
	p.nonce = nonceOf(greeting)
	b := binary.LittleEndian.AppendUint32(nil, capabilities)
	b = append(binary.LittleEndian.AppendUint32(b, 1<<24), collation)
	b = binary.LittleEndian.AppendUint32(append(b, make([]byte, 19)...), p.extended)
	b = append(append(b, at.user...), 0)
	b = append(b, 0) // an empty answer to the nonce: the server requests another
	b = append(append(b, at.schema...), 0)
	b = append(append(b, "none_yet"...), 0)
	p.write(1, b)
	p.authenticate(at.password)
	return p
}

// authenticate answers the server's requests until the login succeeds.
func (p *peer) authenticate(password string) {
	p.t.Helper()
	for {
		asked := p.read()
		switch asked.payload[0] {
		case mysql.OK_HEADER:
			p.welcome = asked
			return
		case mysql.MORE_DATE_HEADER:
			if asked.payload[1] != mysql.CACHE_SHA2_FAST_AUTH {
				p.t.Fatalf("%s: full authentication", p.at.name)
			}
		case mysql.EOF_HEADER:
			plugin, rest, _ := bytes.Cut(asked.payload[1:], []byte{0})
			p.nonce = bytes.TrimRight(rest, "\x00")
			p.write(asked.seq+1, answer(string(plugin), p.nonce, password))
		default:
			p.t.Fatalf("%s: login: %q", p.at.name, asked.payload)
		}
	}
}

// refused answers the server's requests until the login is refused.
func (p *peer) refused(password string) *mysql.MyError {
	p.t.Helper()
	for {
		asked := p.read()
		switch asked.payload[0] {
		case mysql.ERR_HEADER:
			e, err := wire.ParseERR(asked.payload)
			if err != nil {
				p.t.Fatal(err)
			}
			return e
		case mysql.EOF_HEADER:
			plugin, rest, _ := bytes.Cut(asked.payload[1:], []byte{0})
			p.write(asked.seq+1, answer(string(plugin), bytes.TrimRight(rest, "\x00"), password))
		case mysql.MORE_DATE_HEADER:
			p.write(asked.seq+1, []byte("x")) // not a password that can be decrypted
		default:
			p.t.Fatalf("%s: let in: %q", p.at.name, asked.payload)
		}
	}
}

func answer(plugin string, nonce []byte, password string) []byte {
	if plugin == mysql.AUTH_NATIVE_PASSWORD {
		return mysql.CalcNativePassword(nonce, []byte(password))
	}
	return mysql.CalcCachingSha2Password(nonce, []byte(password))
}

// nonceOf finds both parts of the nonce in a greeting.
func nonceOf(greeting []byte) []byte {
	at := bytes.IndexByte(greeting, 0) + 5
	return slices.Concat(greeting[at:at+8], greeting[at+27:at+39])
}

// extendedIn returns MariaDB's extended capabilities in a greeting.
func extendedIn(greeting []byte) uint32 {
	if offeredIn(greeting)&mysql.CLIENT_LONG_PASSWORD != 0 {
		return 0
	}
	at := bytes.IndexByte(greeting, 0) + 5 + 9
	return binary.LittleEndian.Uint32(greeting[at+14:])
}

func offeredIn(greeting []byte) uint32 {
	at := bytes.IndexByte(greeting, 0) + 5 + 9
	return uint32(binary.LittleEndian.Uint16(greeting[at:])) | uint32(binary.LittleEndian.Uint16(greeting[at+5:]))<<16
}

func (p *peer) read() packet {
	p.t.Helper()
	view, seq, err := p.stream.Payload()
	if err != nil {
		p.t.Fatalf("%s: %v", p.at.name, err)
	}
	defer p.stream.Done()
	return packet{seq, bytes.Clone(view)}
}

// write sends a payload and ignores errors, because a missing answer reveals them.
func (p *peer) write(seq byte, payload []byte) {
	out, _ := wire.AppendPacket(nil, seq, payload)
	_, _ = p.stream.Write(out)
}

// ask sends a command and reads the whole answer.
func (p *peer) ask(kind wire.ResponseKind, payload []byte) []packet {
	p.t.Helper()
	_ = p.stream.NetConn().SetDeadline(time.Now().Add(patience))
	p.write(0, payload)
	return p.answer(kind)
}

// answer reads packets to the end of an answer.
func (p *peer) answer(kind wire.ResponseKind) (packets []packet) {
	p.t.Helper()
	scanner := wire.Scanner{DeprecateEOF: p.capabilities&mysql.CLIENT_DEPRECATE_EOF != 0}
	scanner.Reset(kind)
	for {
		read := p.read()
		packets = append(packets, read)
		framed, _ := wire.AppendPacket(nil, read.seq-byte(len(read.payload)/wire.MaxPayload), read.payload)
		_, state, err := scanner.Scan(framed)
		if err != nil {
			p.t.Fatalf("%s: %v, after %v", p.at.name, err, packets)
		}
		if state == wire.Done || state == wire.FileRequest {
			return packets
		}
	}
}

// query sends a text.
func (p *peer) query(text string) []packet {
	p.t.Helper()
	return p.ask(wire.QueryResponse, append([]byte{mysql.COM_QUERY}, text...))
}

// must runs queries. An error ends the test.
func (p *peer) must(texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		packets := p.query(text)
		if last := packets[len(packets)-1]; wire.IsERR(last.payload) {
			p.t.Fatalf("%s: %s: %v", p.at.name, text, last)
		}
	}
}

// gone checks that the connection is closed and that nothing more was sent.
func (p *peer) gone() {
	p.t.Helper()
	if err := p.stream.Fill(); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		p.t.Errorf("%s: the connection is still there: %q, %v", p.at.name, p.stream.Unread(), err)
	}
}
