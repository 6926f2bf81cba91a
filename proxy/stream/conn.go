package stream

import (
	"net"
	"sync/atomic"
	"time"

	"locus/proxy/wire"
)

// DefaultLimit is the longest payload in bytes that a new Conn accepts.
const DefaultLimit = 64 << 20

// Conn is a network connection with a read buffer of its own.
type Conn struct {
	conn  net.Conn
	sock  *Socket // conn, if it is a plain socket; else nil
	poll  *poller // nil if waiting for bytes takes a buffer, as with TLS
	limit int     // longest payload, in bytes

	patience time.Duration // limit of a wait for bytes that the peer owes; 0 for none

	small int  // buffer size for an ordinary read, in bytes
	big   int  // buffer size if much is to come, in bytes
	more  bool // much is to come

	block *block // the buffer's memory; nil if it is empty and no read is in progress
	from  int    // Unread is block.b[from:to]
	to    int

	unnumbered bool // the packets of a payload have no consecutive numbers

	term     *Term         // received bytes count until it ends; nil for no end
	received atomic.Uint64 // number of reads that returned bytes

	taken  int    // bytes that Done discards
	joined []byte // the payload that Payload joined from several packets, until Done
}

// New puts a buffer on c.
func New(c net.Conn) *Conn {
	conn := &Conn{conn: c, limit: DefaultLimit, small: waiting, big: normal}
	if s := newSocket(c); s != nil {
		conn.conn, conn.sock = s, s
		if conn.poll = newPoller(s, conn); conn.poll != nil {
			conn.small, conn.big = normal, bulk
		}
	}
	return conn
}

// NetConn returns the underlying connection. Reading from it bypasses the bytes in the buffer.
func (c *Conn) NetConn() net.Conn { return c.conn }

// Received returns the number of reads that returned bytes so far. It is safe for concurrent use.
func (c *Conn) Received() uint64 { return c.received.Load() }

// SetLimit bounds payloads to n bytes, like MySQL's max_allowed_packet. The buffer grows to at most twice that, or 128 KiB.
func (c *Conn) SetLimit(n int) { c.limit = n }

// IgnoreNumbers lets payloads be joined without checking packet numbers. Under compression the frames are numbered instead.
func (c *Conn) IgnoreNumbers() { c.unnumbered = true }

// Write writes directly to the network connection.
func (c *Conn) Write(b []byte) (int, error) {
	if c.sock != nil {
		return c.sock.Write(b)
	}
	return c.conn.Write(b)
}

// WritePayload writes a payload as packets. It copies only their beginnings, which leave with their headers. It returns the next
// sequence number. After an error it is unknown how much arrived.
func (c *Conn) WritePayload(seq byte, payload []byte) (byte, error) {
	for {
		n := min(len(payload), wire.MaxPayload)
		first := min(n, waiting-wire.HeaderSize)
		begin := make([]byte, wire.HeaderSize, wire.HeaderSize+first)
		wire.PutHeader(begin, n, seq)
		seq++
		if _, err := c.Write(append(begin, payload[:first]...)); err != nil {
			return seq, err
		}
		if first < n {
			if _, err := c.Write(payload[first:n]); err != nil {
				return seq, err
			}
		}
		payload = payload[n:]
		if n < wire.MaxPayload {
			return seq, nil
		}
	}
}

// SetDeadline bounds reads and writes. It may be called while they block.
func (c *Conn) SetDeadline(t time.Time) error { return c.conn.SetDeadline(t) }

// SetReadDeadline bounds reads. It may be called while one blocks.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.conn.SetReadDeadline(t) }

// SetWriteDeadline bounds writes. It may be called while one blocks.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.conn.SetWriteDeadline(t) }

// Close closes the network connection. It may be called while a read or write blocks. Buffered bytes remain readable.
func (c *Conn) Close() error { return c.conn.Close() }
