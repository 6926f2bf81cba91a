package stream

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/proxy/wire"

	"pgregory.net/rapid"
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

// identity is a certificate that nobody trusts.
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

// connect returns a Conn and what its peer writes to; the peer's writes are awaited at the end of the test.
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

// Whatever is asked for, in whatever order, the bytes come out as they were sent.
func TestBytesAreKept(t *testing.T) {
	forEachKind(t, func(t *testing.T, kind string) {
		rapid.Check(t, func(rt *rapid.T) {
			sent := numbered(rapid.SampledFrom([]int{10, 5000, 100_000, 300_000}).Draw(rt, "bytes"))
			near, far := kinds[kind](t)
			defer near.Close()
			c := New(near)
			done := make(chan struct{})
			go func() {
				defer close(done)
				for rest := sent; len(rest) > 0; {
					n := min(len(rest), 1+len(rest)/7)
					if _, err := far.Write(rest[:n]); err != nil {
						return
					}
					rest = rest[n:]
				}
				_ = far.Close()
			}()
			keep := rapid.SampledFrom([]int{0, 1, 26, 5000, 40_000}).Draw(rt, "bytes left unread")
			var got []byte
			for {
				if rapid.IntRange(0, 9).Draw(rt, "bulk") == 0 {
					c.Bulk()
				}
				err := c.Fill()
				if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
					rt.Fatal(err)
				}
				n := max(0, len(c.Unread())-keep)
				if err != nil {
					n = len(c.Unread())
				}
				got = append(got, c.Unread()[:n]...)
				c.Discard(n)
				if err != nil {
					break
				}
			}
			<-done
			if !bytes.Equal(got, sent) {
				rt.Fatalf("%d bytes read, %d sent, or others", len(got), len(sent))
			}
		})
	})
}

func TestPacketIsAViewAndStays(t *testing.T) {
	forEachKind(t, func(t *testing.T, kind string) {
		c, far := connect(t, kind)
		payload := numbered(70_000)
		packet, _ := wire.AppendPacket(nil, 3, payload)
		send(t, far, packet[:2], packet[2:100], packet[100:], []byte{0, 0, 0, 4})
		for range 2 {
			got, err := c.Packet()
			if err != nil || !bytes.Equal(got, packet) {
				t.Fatalf("%d bytes of %d, %v", len(got), len(packet), err)
			}
		}
		c.Discard(len(packet))
		if got, err := c.Packet(); err != nil || !bytes.Equal(got, []byte{0, 0, 0, 4}) {
			t.Errorf("empty packet: % x, %v", got, err)
		}
	})
}

func TestPayloadJoinsPackets(t *testing.T) {
	for _, length := range []int{0, 1, 30_000, wire.MaxPayload - 1, wire.MaxPayload, 2*wire.MaxPayload + 5} {
		c, far := connect(t, "tcp")
		payload := numbered(length)
		packets, next := wire.AppendPacket(nil, 7, payload)
		send(t, far, packets, []byte{1, 0, 0, 0, 'x'})
		got, seq, err := c.Payload()
		if err != nil || seq != next-1 || !bytes.Equal(got, payload) {
			t.Fatalf("%d bytes: %d, last number %d, %v", length, len(got), seq, err)
		}
		c.Done()
		if got, seq, err = c.Payload(); err != nil || string(got) != "x" || seq != 0 {
			t.Errorf("after %d bytes: %q, number %d, %v", length, got, seq, err)
		}
	}
}

func TestPayloadOfPacketsOutOfOrder(t *testing.T) {
	c, far := connect(t, "tcp")
	packets, _ := wire.AppendPacket(nil, 0, make([]byte, wire.MaxPayload+10))
	packets[wire.HeaderSize+wire.MaxPayload+3] = 5
	send(t, far, packets)
	if _, _, err := c.Payload(); !errors.Is(err, ErrOutOfOrder) {
		t.Error(err)
	}
}

func TestLimit(t *testing.T) {
	fits, _ := wire.AppendPacket(nil, 0, numbered(20_000))
	exceeds, _ := wire.AppendPacket(nil, 0, numbered(20_001))
	for name, read := range map[string]func(*Conn) error{
		"Packet":  func(c *Conn) error { _, err := c.Packet(); return err },
		"Payload": func(c *Conn) error { _, _, err := c.Payload(); return err },
	} {
		c, far := connect(t, "tcp")
		c.SetLimit(20_000)
		send(t, far, fits, exceeds)
		if err := read(c); err != nil {
			t.Errorf("%s at the limit: %v", name, err)
		}
		c.Discard(len(fits))
		c.taken = 0
		if err := read(c); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "limit 20000") {
			t.Errorf("%s beyond the limit: %v", name, err)
		}
	}
	t.Run("joined", func(t *testing.T) {
		c, far := connect(t, "tcp")
		c.SetLimit(wire.MaxPayload + 9)
		packets, _ := wire.AppendPacket(nil, 0, make([]byte, wire.MaxPayload+10))
		send(t, far, packets)
		if _, _, err := c.Payload(); !errors.Is(err, ErrTooLarge) {
			t.Error(err)
		}
	})
	t.Run("Fill", func(t *testing.T) {
		c, far := connect(t, "tcp")
		c.SetLimit(300_000)
		send(t, far, make([]byte, 1<<20))
		var err error
		for err == nil {
			err = c.Fill()
		}
		if unread := len(c.Unread()); !errors.Is(err, ErrTooLarge) || unread < 300_000 || unread > 600_000 {
			t.Errorf("%d bytes unread, %v", unread, err)
		}
	})
}

func TestEndOfStream(t *testing.T) {
	forEachKind(t, func(t *testing.T, kind string) {
		c, far := connect(t, kind)
		go func() {
			_, _ = far.Write([]byte{9, 0, 0, 0, 'x'})
			_ = far.Close()
		}()
		if _, err := c.Packet(); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("in the midst of a packet: %v", err)
		}
		c.Discard(len(c.Unread()))
		if _, err := c.Packet(); !errors.Is(err, io.EOF) {
			t.Errorf("between packets: %v", err)
		}
		if got := memory(c); got != 0 {
			t.Errorf("%d bytes held after the end", got)
		}
	})
}

// idle makes c wait for bytes that don't come.
func idle(t *testing.T, c *Conn) {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if err := c.Fill(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
}

func memory(c *Conn) int {
	if c.block == nil {
		return 0
	}
	return len(c.block.b)
}

func TestIdleConnectionHoldsLittle(t *testing.T) {
	for kind := range kinds {
		c, far := connect(t, kind)
		send(t, far, make([]byte, 60_000))
		for read := 0; read < 60_000; {
			if err := c.Fill(); err != nil {
				t.Fatal(err)
			}
			read += len(c.Unread())
			c.Discard(len(c.Unread()))
		}
		c.more = false // the last read may have filled its buffer
		idle(t, c)
		if got := memory(c); got > 0 {
			t.Errorf("%s: %d bytes", kind, got)
		}
	}
}

// While a plain socket is waited for, the buffer is back in the pool.
func TestWaitingTakesNoBuffer(t *testing.T) {
	for _, kind := range []string{"tcp", "unix"} {
		c, far := connect(t, kind)
		send(t, far, []byte("x"))
		if err := c.Fill(); err != nil || memory(c) != normal {
			t.Fatal(memory(c), err)
		}
		c.Discard(1)
		var during []int
		c.poll.attempt = func(fd uintptr) bool {
			settled := c.poll.try(fd)
			if during = append(during, memory(c)); len(during) == 1 {
				send(t, far, []byte("y"))
			}
			return settled
		}
		if err := c.Fill(); err != nil || string(c.Unread()) != "y" {
			t.Fatal(err)
		}
		if during[0] != 0 || during[len(during)-1] != normal {
			t.Errorf("%s: %d bytes after each attempt to read", kind, during)
		}
	}
}

func TestReleaseKeepsWhatIsUnread(t *testing.T) {
	c, far := connect(t, "tcp")
	send(t, far, []byte("xy"))
	for len(c.Unread()) < 2 {
		if err := c.Fill(); err != nil {
			t.Fatal(err)
		}
	}
	c.Release()
	if string(c.Unread()) != "xy" {
		t.Errorf("%q is left", c.Unread())
	}
	c.Discard(2)
	c.Release()
	if got := memory(c); got != 0 || len(c.Unread()) != 0 {
		t.Errorf("%d bytes held", got)
	}
}

// A header may claim 16 MB; memory is taken for what arrives.
func TestMemoryFollowsWhatArrives(t *testing.T) {
	c, far := connect(t, "pipe")
	send(t, far, []byte{0xfe, 0xff, 0xff, 0}, make([]byte, 50_000))
	for len(c.Unread()) < 50_000 {
		if err := c.Fill(); err != nil {
			t.Fatal(err)
		}
	}
	if got := memory(c); got > 128<<10 {
		t.Errorf("%d bytes for 50,000", got)
	}
	if len(c.Unread()) != 50_004 {
		t.Error(len(c.Unread()))
	}
}

func TestBuffersGrowWithTheReads(t *testing.T) {
	c, far := connect(t, "tcp")
	total := 4 << 20
	send(t, far, make([]byte, total))
	largest := 0
	for read := 0; read < total; {
		if err := c.Fill(); err != nil {
			t.Fatal(err)
		}
		largest = max(largest, memory(c))
		n := len(c.Unread())
		read += n
		c.Discard(n)
	}
	if largest != bulk {
		t.Errorf("largest buffer %d, want %d", largest, bulk)
	}
	c, far = connect(t, "tcp")
	c.Bulk()
	send(t, far, []byte("little"))
	if err := c.Fill(); err != nil || memory(c) != bulk {
		t.Errorf("after Bulk: %d, %v", memory(c), err)
	}
	c.Discard(len(c.Unread()))
	send(t, far, []byte("more"))
	if err := c.Fill(); err != nil || memory(c) != normal {
		t.Errorf("after little came: %d, %v", memory(c), err)
	}
}

// The beginning of a packet that is left unread while what precedes it is forwarded doesn't make the buffer grow.
func TestBufferStaysWhenLittleIsLeftUnread(t *testing.T) {
	c, far := connect(t, "tcp")
	total := 4 << 20
	send(t, far, make([]byte, total))
	for read := 0; read < total-20; {
		if err := c.Fill(); err != nil {
			t.Fatal(err)
		}
		if got := memory(c); got > bulk {
			t.Fatalf("%d bytes", got)
		}
		n := len(c.Unread()) - 20
		read += n
		c.Discard(n)
	}
}

// A read isn't confined to the few bytes that are left at the end of the buffer.
func TestReadsAreWorthwhile(t *testing.T) {
	c, far := connect(t, "pipe")
	send(t, far, make([]byte, waiting-10), make([]byte, 1000))
	if err := c.Fill(); err != nil {
		t.Fatal(err)
	}
	c.Discard(waiting - 20)
	if err := c.Fill(); err != nil || len(c.Unread()) != 1010 {
		t.Errorf("%d bytes unread, %v", len(c.Unread()), err)
	}
}

func TestDiscardTooMuchPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	New(nil).Discard(1)
}

func TestWritePayload(t *testing.T) {
	for _, length := range []int{0, 5, wire.MaxPayload, wire.MaxPayload + 5} {
		c, far := connect(t, "tcp")
		payload := numbered(length)
		want, wantSeq := wire.AppendPacket(nil, 2, payload)
		got := make([]byte, len(want))
		read := make(chan error, 1)
		go func() {
			_, err := io.ReadFull(far, got)
			read <- err
		}()
		seq, err := c.WritePayload(2, payload)
		if err != nil || seq != wantSeq {
			t.Error(seq, err)
		}
		if err := <-read; err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes arrived otherwise, %v", length, err)
		}
	}
}

// What a command and its answer cost once everything is warm.
func TestReadingAllocatesNothing(t *testing.T) {
	c, far := connect(t, "tcp")
	packet, _ := wire.AppendPacket(nil, 0, numbered(200))
	if n := testing.AllocsPerRun(200, func() {
		if _, err := far.Write(packet); err != nil {
			t.Error(err)
		}
		if _, err := c.Packet(); err != nil {
			t.Error(err)
		}
		c.Discard(len(packet))
	}); n > 0.5 { // the pool may be emptied by the garbage collector
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkPacket(b *testing.B) {
	for _, kind := range []string{"tcp", "tls"} {
		b.Run(kind, func(b *testing.B) {
			near, far := kinds[kind](b)
			defer near.Close()
			defer far.Close()
			c := New(near)
			packet, _ := wire.AppendPacket(nil, 0, numbered(200))
			b.ReportAllocs()
			for b.Loop() {
				_, _ = far.Write(packet)
				if _, err := c.Packet(); err != nil {
					b.Fatal(err)
				}
				c.Discard(len(packet))
			}
		})
	}
}
