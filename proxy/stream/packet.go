package stream

import (
	"errors"
	"fmt"

	"locus/proxy/wire"
)

// ErrOutOfOrder is wrapped by the error about a packet whose sequence number doesn't follow that of the packet it continues.
var ErrOutOfOrder = errors.New("packets out of order")

// Packet waits until Unread holds the first packet whole. It returns the packet with its header, as a view like Unread's, and
// doesn't discard it. If the payload exceeds the limit, the error wraps ErrTooLarge and the header is in Unread.
func (c *Conn) Packet() ([]byte, error) {
	if err := c.begin(); err != nil {
		return nil, err
	}
	length, _ := wire.Header(c.Unread())
	if err := c.admit(length); err != nil {
		return nil, err
	}
	if err := c.need(wire.HeaderSize + length); err != nil {
		return nil, err
	}
	return c.Unread()[:wire.HeaderSize+length], nil
}

// Payload waits for a whole payload, which may span several packets. It returns the payload and the sequence number of its last
// packet. A payload of one packet is a view of the buffer; a longer one is joined in its own memory. Either is valid until Done,
// which must be called in place of Discard before the next read.
func (c *Conn) Payload() (payload []byte, seq byte, err error) {
	if err := c.begin(); err != nil {
		return nil, 0, err
	}
	if length, _ := wire.Header(c.Unread()); length == wire.MaxPayload {
		return c.join()
	}
	packet, err := c.Packet()
	if err != nil {
		return nil, 0, err
	}
	c.taken = len(packet)
	return packet[wire.HeaderSize:], packet[wire.HeaderSize-1], nil
}

// Done discards what Payload returned.
func (c *Conn) Done() {
	c.Discard(c.taken)
	c.taken, c.joined = 0, nil
}

// join assembles a payload from its packets. They pass through a buffer of ordinary size.
func (c *Conn) join() (payload []byte, seq byte, err error) {
	c.Bulk()
	for first := true; ; first = false {
		if err := c.need(wire.HeaderSize); err != nil {
			return nil, 0, err
		}
		length, number := wire.Header(c.Unread())
		if !first && number != seq+1 && !c.unnumbered {
			return nil, 0, fmt.Errorf("packet %d after %d: %w", number, seq, ErrOutOfOrder)
		}
		if err := c.admit(len(c.joined) + length); err != nil {
			return nil, 0, err
		}
		seq = number
		c.Discard(wire.HeaderSize)
		if err := c.collect(length); err != nil {
			return nil, 0, err
		}
		if length < wire.MaxPayload {
			return c.joined, seq, nil
		}
	}
}

// collect moves n bytes from the buffer to the payload being joined.
func (c *Conn) collect(n int) error {
	for n > 0 {
		if err := c.need(1); err != nil {
			return err
		}
		piece := c.Unread()[:min(n, c.to-c.from)]
		c.joined = append(c.joined, piece...)
		c.Discard(len(piece))
		n -= len(piece)
	}
	return nil
}

func (c *Conn) admit(length int) error {
	if length > c.limit {
		return fmt.Errorf("payload of %d bytes or more, limit %d: %w", length, c.limit, ErrTooLarge)
	}
	return nil
}

// begin waits until the header of a packet is unread. The peer may take its time before the first byte, and not after it.
func (c *Conn) begin() error {
	if c.from == c.to {
		if err := c.Fill(); err != nil {
			return err
		}
	}
	return c.need(wire.HeaderSize)
}

// need waits until n bytes are unread, the first of which the peer owes.
func (c *Conn) need(n int) error {
	for c.to-c.from < n {
		if err := c.More(); err != nil {
			return err
		}
	}
	return nil
}
