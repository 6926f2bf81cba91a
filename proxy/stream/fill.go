package stream

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"locus/proxy/wire"
)

// ErrTooLarge is wrapped by the error about a packet longer than the limit. The rest of the packet is still unread, so nothing after
// it can be read. The caller can only send an error and close the connection.
var ErrTooLarge = errors.New("packet too large")

// Unread returns the bytes that were read but not discarded. The slice is valid until the next Fill, Packet, Payload or
// Release.
func (c *Conn) Unread() []byte {
	if c.block == nil {
		return nil
	}
	return c.block.b[c.from:c.to]
}

// Discard drops the first n bytes of Unread. Slices of them remain valid until the next Fill, Packet, Payload or Release.
func (c *Conn) Discard(n int) {
	if n < 0 || n > c.to-c.from {
		panic(fmt.Sprintf("stream: %d bytes discarded of %d", n, c.to-c.from))
	}
	c.from += n
}

// Bulk announces that much is to come. Reads then use a big buffer until one of them returns little. A read that fills its buffer has
// the same effect.
func (c *Conn) Bulk() { c.more = true }

// Release frees the buffer's memory if Unread is empty. Fill does that itself while it waits. Call Release on a connection that is put
// away without a pending read.
func (c *Conn) Release() {
	if c.from < c.to || c.block == nil {
		return
	}
	release(c.block)
	c.block, c.from, c.to = nil, 0, 0
}

// Fill waits until Unread has at least one more byte, with one read of the network connection. The buffer grows only if the unread
// bytes need it, at most to the limit. Beyond that the error wraps ErrTooLarge. At the end of the stream Fill returns io.EOF, or
// io.ErrUnexpectedEOF if bytes are unread.
func (c *Conn) Fill() error {
	if c.from == c.to {
		c.from, c.to = 0, 0
	} else if err := c.makeRoom(); err != nil {
		return err
	}
	n, err := c.read()
	if n > 0 {
		if c.term.Over() {
			c.to = c.from
			return ErrOver
		}
		return nil
	}
	c.Release()
	switch {
	case err == nil:
		return io.ErrNoProgress
	case errors.Is(err, io.EOF) && c.from < c.to:
		return io.ErrUnexpectedEOF
	}
	return err
}

// More is [Conn.Fill] for bytes that the peer owes: it fails with a *StalledError once none has come for as long as LimitReads allows.
func (c *Conn) More() error {
	if c.patience <= 0 {
		return c.Fill()
	}
	if err := c.SetReadDeadline(time.Now().Add(c.patience)); err != nil {
		return err
	}
	err := c.Fill()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &StalledError{Reading: true, Limit: c.patience}
	}
	_ = c.SetReadDeadline(time.Time{}) // fails only on a closed connection, as the next read does
	return err
}

// read reads once. It waits without a buffer if that is possible and nothing is unread.
func (c *Conn) read() (n int, err error) {
	if c.poll != nil {
		return c.poll.read()
	}
	n, err = c.conn.Read(c.room())
	c.got(n)
	return n, err
}

// room returns the memory for a read. An empty buffer is first exchanged for one of the size wanted now.
func (c *Conn) room() []byte {
	if c.to > 0 {
		return c.block.b[c.to:]
	}
	want := c.small
	if c.more {
		want = c.big
	}
	if c.block == nil || len(c.block.b) != want {
		c.Release()
		c.block = take(want)
	}
	return c.block.b
}

// got records a read of n bytes.
func (c *Conn) got(n int) {
	if n <= 0 {
		return
	}
	c.received.Add(1)
	room := len(c.block.b) - c.to
	c.to += n
	c.more = n == room && room >= c.small || c.more && n > c.big/8
}

// makeRoom makes room for more bytes after the unread ones. It moves the unread bytes to the start of another buffer, which is larger
// if they fill this one. The buffer grows by doubling. So memory is proportional to the bytes that arrived, not to the length that a
// header claims.
func (c *Conn) makeRoom() error {
	unread, room := c.to-c.from, len(c.block.b)-c.to
	if room >= waiting || room > 0 && c.from == 0 {
		return nil
	}
	most := c.limit + wire.HeaderSize
	if unread >= most {
		return fmt.Errorf("%d bytes unread, limit %d: %w", unread, c.limit, ErrTooLarge)
	}
	want := c.small
	if c.more {
		want = c.big
	}
	c.move(take(max(min(2*unread, most), want)))
	return nil
}

// move continues with another buffer.
func (c *Conn) move(to *block) {
	n := copy(to.b, c.Unread())
	release(c.block)
	c.block, c.from, c.to = to, 0, n
}
