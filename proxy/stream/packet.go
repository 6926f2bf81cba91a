package stream

import (
	"errors"
	"fmt"

	"locus/proxy/wire"
)

// ErrOutOfOrder is wrapped by the error about a packet that doesn't have the sequence number after that of the one it continues.
var ErrOutOfOrder = errors.New("packets out of order")

// Packet waits until the first packet is in Unread as a whole, and returns it with its header: a view as Unread's. It isn't
// discarded. The error wraps ErrTooLarge if its payload is longer than the limit; the header is then in Unread.
func (c *Conn) Packet() ([]byte, error) {
	if err := c.need(wire.HeaderSize); err != nil {
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

// Payload waits for a whole payload, which may be spread over several packets, and returns it with the sequence number of the last
// of them. Usually it is a view of the buffer; a payload of several packets is put together in memory of its own. Either way it
// is valid until Done, which must be called before anything else is read, in place of Discard.
func (c *Conn) Payload() (payload []byte, seq byte, err error) {
	if err := c.need(wire.HeaderSize); err != nil {
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

// join puts a payload together from its packets. They pass through a buffer of ordinary size.
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

// collect moves n bytes from the buffer to the payload that is being put together.
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

// need waits until n bytes are unread.
func (c *Conn) need(n int) error {
	for c.to-c.from < n {
		if err := c.Fill(); err != nil {
			return err
		}
	}
	return nil
}
