package session

import (
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
	p := s.passage(c.Stream())
	s.scanner.StopBeforeRows = p.withoutEOF || p.flags != 0
	s.scanner.Reset(kind)
	for {
		n, state, err := s.scanner.Scan(p.from.Unread()[p.held:])
		if err != nil {
			return lost(c, p.forwarded, fmt.Errorf("answer of shard %s: %w", c.Shard(), err))
		}
		if state == wire.FileRequest && s.capabilities&mysql.CLIENT_LOCAL_FILES == 0 {
			p.from.Discard(n)
			return s.withoutFile(c)
		}
		if state == wire.Done && !p.forwarded && p.held == 0 && s.leaving() {
			return c.Leaving()
		}
		if err := s.forward(&p, n, state, last); err != nil {
			return err
		}
		switch state {
		case wire.Done:
			s.relayed(&p)
			return nil
		case wire.ResultEnd, wire.DefinitionsEnd:
			continue
		case wire.FileRequest:
			if err := s.sendFile(c, s.scanner.NextSeq()); err != nil {
				return err
			}
			p.forwarded = false // the client waits for an answer again
			continue
		case wire.NeedBytes:
		}
		if err := p.from.Fill(); err != nil {
			return lost(c, p.forwarded, err)
		}
	}
}

// leaving tells whether the answer is that the server is shutting down.
func (s *Session) leaving() bool {
	code, failed := s.scanner.ErrCode()
	return failed && code == mysql.ER_SERVER_SHUTDOWN
}

// relayed notes what the next statement of the same text must know.
func (s *Session) relayed(p *passage) {
	s.timing.code, s.failed = s.scanner.ErrCode()
	s.seq = s.scanner.NextSeq()
	if p.numbers.needed {
		s.seq = p.numbers.next
	}
}

// forward sends on what the scanner has passed, as this client wants it.
func (s *Session) forward(p *passage, n int, state wire.State, last ending) error {
	if state == wire.DefinitionsEnd {
		return p.endDefinitions(n, s.scanner.LastPacket())
	}
	if n += p.held; n == 0 {
		return nil
	}
	p.held = 0
	piece := p.from.Unread()[:n]
	if !p.forwarded {
		p.numbers.begin(piece, s.seq, p.withoutEOF)
	}
	p.numbers.apply(piece)
	var err error
	switch state {
	case wire.Done:
		err = s.passEnd(p, piece, s.interruption(last))
	case wire.ResultEnd:
		flags := p.flags
		if p.withoutEOF && s.scanner.OutParams() { // this client isn't told where the definitions end
			p.flags |= mysql.SERVER_PS_OUT_PARAMS | mysql.SERVER_MORE_RESULTS_EXISTS
		}
		err = s.passEnd(p, piece, nil)
		p.flags = flags
	default:
		err = s.pass(piece)
	}
	if err != nil {
		return err
	}
	p.from.Discard(n)
	p.forwarded = true
	return nil
}

func (s *Session) pass(packets []byte) error {
	if _, err := s.client.Write(packets); err != nil {
		return &clientGone{err}
	}
	return nil
}

// passEnd writes a piece that ends with the last packet of a result.
func (s *Session) passEnd(p *passage, piece []byte, last ending) error {
	at := len(piece) - s.scanner.LastPacket()
	if err := p.flag(piece[at:]); err != nil {
		return &partial{err}
	}
	replaced := p.withoutEOF && wire.IsEOF(piece[at+wire.HeaderSize:])
	switch {
	case last != nil:
		return s.passChanged(piece, at, last, replaced)
	case !replaced:
		return s.pass(piece)
	}
	if grown := p.grown(piece); grown != nil {
		wire.EOFToOK(grown[:at], piece[at:])
		return s.pass(grown)
	}
	if err := s.pass(piece[:at]); err != nil {
		return err
	}
	return s.passChanged(piece[at:], 0, nil, true)
}

// passChanged writes a piece with another packet in place of the one at its end.
func (s *Session) passChanged(piece []byte, at int, last ending, replaced bool) error {
	out, err := append(s.out[:0], piece[:at]...), error(nil)
	if last == nil {
		out = append(out, piece[at:]...)
	} else if out, err = last(out, piece[at:]); err != nil {
		return &partial{err}
	}
	if replaced {
		out = wire.EOFToOK(out[:at], out[at:])
	}
	if err := s.flush(out); err != nil {
		return &clientGone{err}
	}
	return nil
}

func lost(c *backend.Conn, forwarded bool, err error) error {
	e := c.Lost(true, err)
	if forwarded {
		return &partial{e}
	}
	return e
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
