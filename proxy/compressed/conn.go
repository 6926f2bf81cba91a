// Package compressed implements MySQL's compressed protocol as a network connection. Writes are put into compressed frames, and
// reads return the frames' contents.
//
// It owns the frames, their numbers, and the compressors, which connections share. It doesn't interpret the packets inside. It takes
// no part in the login, which isn't compressed: the first write is the last answer of the login, and frames begin after it.
//
// A frame is a header of seven bytes and its contents. The header holds the length of the contents, a number, and the length before
// compression, which is 0 if they aren't compressed. Packets and frames need not be aligned.
package compressed

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
)

const (
	headerSize = 7
	// worthwhile is the smallest number of bytes to compress, as in MySQL.
	worthwhile = 50
	// piece is the largest number of bytes in one frame, which bounds the memory of a write.
	piece = 256 << 10
	// inbox is the size in bytes of the buffer for reading frames.
	inbox = 4 << 10
)

// ErrOutOfOrder is wrapped by the error about a frame with an unexpected number.
var ErrOutOfOrder = errors.New("frames out of order")

// ErrMalformed is wrapped by the error about a frame that can't be decompressed as declared.
var ErrMalformed = errors.New("malformed frame")

// Conn is a connection to a client that negotiated compression. Like any net.Conn it supports one concurrent reader and writer.
type Conn struct {
	net.Conn
	algorithm Algorithm
	in        *bufio.Reader
	begun     bool // the end of the login was written

	next   byte // number of the next frame in either direction
	left   int  // bytes still to come from the current frame
	frame  io.LimitedReader
	reader decompressor // of the current frame; nil if the frame isn't compressed
}

// New adds frames to c. rest was already read from c.
func New(c net.Conn, rest []byte, algorithm Algorithm) *Conn {
	from := io.Reader(c)
	if len(rest) > 0 {
		from = io.MultiReader(newOwned(rest), c)
	}
	return &Conn{Conn: c, algorithm: algorithm, in: bufio.NewReaderSize(from, inbox)}
}

// Begin declares the login finished, on the client side, which doesn't write its end.
func (c *Conn) Begin() { c.begun = true }

// NetConn returns the underlying connection.
func (c *Conn) NetConn() net.Conn { return c.Conn }

// Read reads the contents of frames.
func (c *Conn) Read(b []byte) (int, error) {
	for c.left == 0 {
		if err := c.open(); err != nil {
			return 0, err
		}
	}
	n, err := c.contents().Read(b[:min(len(b), c.left)])
	c.left -= n
	if c.left == 0 {
		return n, c.close()
	}
	if errors.Is(err, io.EOF) || c.reader != nil && err != nil {
		return n, fmt.Errorf("%d bytes too few: %w", c.left, ErrMalformed)
	}
	return n, err
}

func (c *Conn) contents() io.Reader {
	if c.reader != nil {
		return c.reader
	}
	return &c.frame
}

// open reads a frame's header. Number 0 begins a command.
func (c *Conn) open() error {
	var header [headerSize]byte
	if _, err := io.ReadFull(c.in, header[:]); err != nil {
		return err
	}
	length, seq, whole := uint24(header[0:]), header[3], uint24(header[4:])
	if seq != c.next && seq != 0 {
		return fmt.Errorf("number %d where %d is due: %w", seq, c.next, ErrOutOfOrder)
	}
	c.next = seq + 1
	c.frame = io.LimitedReader{R: c.in, N: int64(length)}
	c.left = length
	if whole == 0 {
		return nil
	}
	c.left = whole
	reader, err := c.algorithm.open(&c.frame)
	if err != nil {
		c.left = 0
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	c.reader = reader
	return nil
}

// close ends a frame whose contents were read.
func (c *Conn) close() error {
	if c.reader != nil {
		c.algorithm.release(c.reader)
		c.reader = nil
	}
	// The compression's own trailer follows the contents.
	if _, err := io.Copy(io.Discard, &c.frame); err != nil {
		return err
	}
	return nil
}

// Write writes b in frames. The first write is sent unframed.
func (c *Conn) Write(b []byte) (int, error) {
	if !c.begun {
		c.begun, c.next = true, 0
		return c.Conn.Write(b)
	}
	frames := borrow()
	defer giveBack(frames)
	for rest := b; len(rest) > 0; {
		n := min(len(rest), piece)
		frames.b = c.append(frames.b[:0], rest[:n])
		if _, err := c.Conn.Write(frames.b); err != nil {
			return len(b) - len(rest), err
		}
		rest = rest[n:]
	}
	return len(b), nil
}

// append appends b as a frame, compressed if that is shorter.
func (c *Conn) append(dst, b []byte) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, headerSize)...)
	whole := 0
	if len(b) >= worthwhile {
		if packed, ok := c.algorithm.pack(dst, b); ok {
			dst, whole = packed, len(b)
		}
	}
	if whole == 0 {
		dst = append(dst, b...)
	}
	header := dst[start:]
	putUint24(header, len(dst)-start-headerSize)
	header[3] = c.next
	putUint24(header[4:], whole)
	c.next++
	return dst
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

func putUint24(b []byte, v int) { b[0], b[1], b[2] = byte(v), byte(v>>8), byte(v>>16) }
