package session

import (
	"errors"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/wire"
)

// clientGone is a write to the client that failed: the session ends.
type clientGone struct{ err error }

func (e *clientGone) Error() string { return "write to client: " + e.err.Error() }
func (e *clientGone) Unwrap() error { return e.err }

// partial is a backend lost after a part of its answer had reached the client,
// who can only be told by closing the connection.
type partial struct{ err error }

func (e *partial) Error() string { return "in the middle of an answer: " + e.err.Error() }
func (e *partial) Unwrap() error { return e.err }

// ending changes the packet that ends an answer before the client gets it; the
// packet is given with its header.
type ending func(dst, packet []byte) ([]byte, error)

// relay passes one answer on to the client as the bytes arrive, undecoded: what
// is waiting in the buffer goes out with one write. The scanner holds what the
// answer said. With last set, the final packet is held back and changed.
func (s *Session) relay(c *backend.Conn, kind wire.ResponseKind, last ending) error {
	s.scanner.Reset(kind)
	from, forwarded := c.Stream(), false
	var numbers renumbering
	for {
		n, state, err := s.scanner.Scan(from.Unread())
		if err != nil {
			return lost(c, forwarded, fmt.Errorf("answer of shard %s: %w", c.Shard(), err))
		}
		if n > 0 {
			if !forwarded {
				numbers.begin(from.Unread(), s.seq)
			}
			numbers.apply(from.Unread()[:n])
			if err := s.pass(from.Unread()[:n], state, last); err != nil {
				return err
			}
			from.Discard(n)
			forwarded = true
		}
		switch state {
		case wire.Done:
			return nil
		case wire.ResultEnd:
			continue
		case wire.FileRequest:
			return lost(c, forwarded, errors.New("LOAD DATA LOCAL is not supported"))
		case wire.NeedBytes:
		}
		if err := from.Fill(); err != nil {
			return lost(c, forwarded, err)
		}
	}
}

// renumbering gives the packets of an answer other sequence numbers. It is
// needed where the shard was sent a command of another number of packets than
// the client had sent: one that grew past 16 MiB, say.
type renumbering struct {
	needed bool
	next   byte
	rest   int // bytes still to come of the packet under way
}

// begin looks at the first packet of the answer; want is its right number.
func (r *renumbering) begin(b []byte, want byte) {
	_, seq := wire.Header(b)
	r.needed, r.next = seq != want, want
}

// apply changes the numbers in place. Pieces begin and end where the scanner
// has it: never within a header.
func (r *renumbering) apply(b []byte) {
	if !r.needed {
		return
	}
	at := min(r.rest, len(b))
	r.rest -= at
	for at < len(b) {
		n, _ := wire.Header(b[at:])
		b[at+3] = r.next
		r.next++
		at += wire.HeaderSize + n
	}
	if at > len(b) {
		r.rest = at - len(b)
	}
}

func lost(c *backend.Conn, forwarded bool, err error) error {
	e := c.Lost(true, err)
	if forwarded {
		return &partial{e}
	}
	return e
}

// pass writes a piece of an answer.
func (s *Session) pass(b []byte, state wire.State, last ending) error {
	if last == nil || state != wire.Done {
		if _, err := s.client.Write(b); err != nil {
			return &clientGone{err}
		}
		return nil
	}
	at := len(b) - s.scanner.LastPacket()
	out, err := last(append(s.out[:0], b[:at]...), b[at:])
	if err != nil {
		return &partial{err}
	}
	if err := s.flush(out); err != nil {
		return &clientGone{err}
	}
	return nil
}

// withStatus is an ending that sets the flags of the session's own transaction,
// for answers from connections that have no part in it.
func (s *Session) withStatus() ending {
	return func(dst, packet []byte) ([]byte, error) {
		dst = append(dst, packet...)
		if packet[wire.HeaderSize] == mysql.ERR_HEADER {
			return dst, nil
		}
		return dst, wire.PatchStatus(dst[len(dst)-len(packet):], 0, s.status())
	}
}
