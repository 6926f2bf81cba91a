package wire

import (
	"bytes"
	"encoding/binary"
)

// cursor reads a payload from its start. After a read fails, bad remains set and all reads return zero values. So the caller checks
// for an error once, at the end.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) fail() { c.b, c.bad = nil, true }

// take returns a view of the next n bytes.
func (c *cursor) take(n int) []byte {
	if n > len(c.b) {
		c.fail()
		return nil
	}
	v := c.b[:n:n]
	c.b = c.b[n:]
	return v
}

func (c *cursor) u8() byte {
	if v := c.take(1); v != nil {
		return v[0]
	}
	return 0
}

func (c *cursor) u16() uint16 {
	if v := c.take(2); v != nil {
		return binary.LittleEndian.Uint16(v)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if v := c.take(4); v != nil {
		return binary.LittleEndian.Uint32(v)
	}
	return 0
}

func (c *cursor) lenInt() uint64 {
	v, n := LenInt(c.b)
	if n == 0 {
		c.fail()
		return 0
	}
	c.b = c.b[n:]
	return v
}

// nullable returns a length-encoded string, nil for NULL.
func (c *cursor) nullable() []byte {
	v, n := LenBytes(c.b)
	if n == 0 {
		c.fail()
		return nil
	}
	c.b = c.b[n:]
	return v
}

// lenBytes returns a length-encoded string. NULL isn't allowed there.
func (c *cursor) lenBytes() []byte {
	v := c.nullable()
	if v == nil {
		c.fail()
	}
	return v
}

// nulBytes returns the bytes before the next NUL and skips the NUL.
func (c *cursor) nulBytes() []byte {
	end := bytes.IndexByte(c.b, 0)
	if end < 0 {
		c.fail()
		return nil
	}
	v := c.take(end)
	c.b = c.b[1:]
	return v
}

// rest returns all remaining bytes.
func (c *cursor) rest() []byte { return c.take(len(c.b)) }

func (c *cursor) err(what string) error {
	if c.bad {
		return malformed(what)
	}
	return nil
}
