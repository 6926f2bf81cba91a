package stream

import (
	"net"
	"sync/atomic"
	"time"

	"locus/proxy/wire"
)

// DefaultLimit is the longest payload that a new Conn accepts, in bytes.
const DefaultLimit = 64 << 20

// Conn is a network connection with a read buffer of its own.
type Conn struct {
	conn  net.Conn
	poll  *poller // nil where waiting for bytes takes a buffer, as with TLS
	limit int     // longest payload, in bytes

	small int  // size of the buffer for an ordinary read, in bytes
	big   int  // and when much is to come
	more  bool // much is to come

	block *block // memory of the buffer; nil if it is empty and no read is under way
	from  int    // Unread is block.b[from:to]
	to    int

	unnumbered bool // the packets of a payload aren't numbered one after the other

	term     *Term         // nil: what comes counts for ever
	received atomic.Uint64 // reads that have brought something in

	taken  int    // bytes that Done discards
	joined []byte // the payload that Payload put together from several packets, until Done
}

// New puts a buffer on c.
func New(c net.Conn) *Conn {
	conn := &Conn{conn: c, limit: DefaultLimit, small: waiting, big: normal}
	if conn.poll = newPoller(c, conn); conn.poll != nil {
		conn.small, conn.big = normal, bulk
	}
	return conn
}

// NetConn returns the connection underneath. Reading from it passes by what is already in the buffer.
func (c *Conn) NetConn() net.Conn { return c.conn }

// Received is how many reads have brought something in so far. It may be called from any goroutine.
func (c *Conn) Received() uint64 { return c.received.Load() }

// SetLimit bounds payloads to n bytes: what max_allowed_packet is to MySQL. The buffer stays below twice that, or 128 KiB.
func (c *Conn) SetLimit(n int) { c.limit = n }

// IgnoreNumbers has payloads put together whatever the numbers of their packets: with compression, it is the frames that are numbered.
func (c *Conn) IgnoreNumbers() { c.unnumbered = true }

// Write writes straight to the network connection.
func (c *Conn) Write(b []byte) (int, error) {
	if c.poll != nil {
		return c.poll.write(b)
	}
	return c.conn.Write(b)
}

// WritePayload writes a payload as packets, without copying it, and returns the next sequence number. After an error it isn't known
// how much of it arrived.
func (c *Conn) WritePayload(seq byte, payload []byte) (byte, error) {
	var pieces net.Buffers
	for {
		n := min(len(payload), wire.MaxPayload)
		header := make([]byte, wire.HeaderSize)
		wire.PutHeader(header, n, seq)
		pieces = append(pieces, header, payload[:n])
		payload = payload[n:]
		seq++
		if n < wire.MaxPayload {
			_, err := pieces.WriteTo(c.conn)
			return seq, err
		}
	}
}

// SetDeadline bounds reads and writes; it may be called while they wait.
func (c *Conn) SetDeadline(t time.Time) error { return c.conn.SetDeadline(t) }

// SetReadDeadline bounds reads; it may be called while one waits.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.conn.SetReadDeadline(t) }

// SetWriteDeadline bounds writes; it may be called while one waits.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.conn.SetWriteDeadline(t) }

// Close closes the network connection; it may be called while a read or write waits. What is in the buffer stays readable.
func (c *Conn) Close() error { return c.conn.Close() }
