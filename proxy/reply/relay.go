package reply

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/wire"
)

// Ending changes the packet that ends an answer before the client gets it. The packet includes its header.
type Ending func(dst, packet []byte) ([]byte, error)

// Relay forwards one answer to the client undecoded, as its bytes arrive. Everything in the buffer is sent with one write. After Relay, the
// scanner describes the answer. flags are set in the packets that end definitions and results. last, if not nil, changes the final packet.
func (t *Client) Relay(c *backend.Conn, kind wire.ResponseKind, flags uint16, last Ending) error {
	p := t.newPassage(c.Stream(), flags)
	t.Scanner.StopBeforeRows = p.withoutEOF || p.flags|p.cleared != 0
	t.Scanner.Reset(kind)
	if t.Tap != nil {
		t.Tap.Begin()
	}
	for {
		n, state, err := t.Scanner.Scan(p.from.Unread()[p.held:])
		if err != nil {
			return loseAnswer(c, p.forwarded, fmt.Errorf("answer of shard %s: %w", c.Shard(), err))
		}
		if t.Tap != nil {
			t.Tap.Saw(p.from.Unread()[p.held : p.held+n])
		}
		if state == wire.FileRequest && t.Capabilities&mysql.CLIENT_LOCAL_FILES == 0 {
			p.from.Discard(n)
			return t.refuseFile(c)
		}
		if state == wire.Done && !p.forwarded && p.held == 0 && t.isShutdown() {
			return c.Leaving()
		}
		if err := t.forward(&p, n, state, last); err != nil {
			return err
		}
		switch state {
		case wire.Done:
			t.setNextSeq(&p)
			return nil
		case wire.ResultEnd, wire.DefinitionsEnd:
			continue
		case wire.FileRequest:
			if err := t.sendFile(c, t.Scanner.NextSeq()); err != nil {
				return err
			}
			p.forwarded = false // the client waits for an answer again
			continue
		case wire.NeedBytes:
		}
		if err := p.from.Fill(); err != nil {
			return loseAnswer(c, p.forwarded, err)
		}
	}
}

// isShutdown reports whether the answer is the error of a server that is shutting down.
func (t *Client) isShutdown() bool {
	code, failed := t.Scanner.ErrCode()
	return failed && code == mysql.ER_SERVER_SHUTDOWN
}

// setNextSeq sets the number of the next packet.
func (t *Client) setNextSeq(p *passage) {
	t.Seq = t.Scanner.NextSeq()
	if p.numbers.needed {
		t.Seq = p.numbers.next
	}
}

// forward sends the part of the answer that the scanner has consumed, in the form for this client.
func (t *Client) forward(p *passage, n int, state wire.State, last Ending) error {
	if state == wire.DefinitionsEnd {
		return p.endDefinitions(n, t.Scanner.LastPacket())
	}
	if n += p.held; n == 0 {
		return nil
	}
	p.held = 0
	piece := p.from.Unread()[:n]
	if !p.forwarded {
		p.numbers.begin(piece, t.Seq, p.withoutEOF)
	}
	p.numbers.apply(piece)
	var err error
	switch state {
	case wire.Done:
		err = t.passEnd(p, piece, t.Final(last))
	case wire.ResultEnd:
		flags := p.flags
		if p.withoutEOF && t.Scanner.OutParams() { // this client does not get the packet that ends the definitions
			p.flags |= mysql.SERVER_PS_OUT_PARAMS | mysql.SERVER_MORE_RESULTS_EXISTS
		}
		err = t.passEnd(p, piece, nil)
		p.flags = flags
	default:
		err = t.Pass(piece)
	}
	if err != nil {
		return err
	}
	p.from.Discard(n)
	p.forwarded = true
	return nil
}

// Pass sends packets to the client. Its error is a *GoneError.
func (t *Client) Pass(packets []byte) error {
	if _, err := t.Stream.Write(packets); err != nil {
		return &GoneError{err}
	}
	return nil
}

// passEnd sends a part of the answer that ends with the last packet of a result.
func (t *Client) passEnd(p *passage, piece []byte, last Ending) error {
	at := len(piece) - t.Scanner.LastPacket()
	if err := p.flag(piece[at:]); err != nil {
		return &PartialError{err}
	}
	t.raiseWarnings(piece[at+wire.HeaderSize:])
	replaced := p.withoutEOF && wire.IsEOF(piece[at+wire.HeaderSize:])
	switch {
	case last != nil:
		return t.passChanged(piece, at, last, replaced)
	case !replaced:
		return t.Pass(piece)
	}
	if grown := p.grown(piece); grown != nil {
		wire.EOFToOK(grown[:at], piece[at:])
		return t.Pass(grown)
	}
	if err := t.Pass(piece[:at]); err != nil {
		return err
	}
	return t.passChanged(piece[at:], 0, nil, true)
}

// raiseWarnings raises the number of warnings in the packet that ends rows to at least Warned, and then adds Added.
func (t *Client) raiseWarnings(end []byte) {
	if (t.Warned > 0 || t.Added > 0) && wire.IsEOF(end) {
		count := end[1:3]
		binary.LittleEndian.PutUint16(count, uint16(min(max(int(binary.LittleEndian.Uint16(count)), t.Warned)+t.Added, math.MaxUint16)))
	}
}

// passChanged sends a part of the answer with its last packet replaced.
func (t *Client) passChanged(piece []byte, at int, last Ending, replaced bool) error {
	out, err := append(t.Out[:0], piece[:at]...), error(nil)
	if last == nil {
		out = append(out, piece[at:]...)
	} else if out, err = last(out, piece[at:]); err != nil {
		return &PartialError{err}
	}
	if replaced {
		out = wire.EOFToOK(out[:at], out[at:])
	}
	if err := t.Flush(out); err != nil {
		return &GoneError{err}
	}
	return nil
}

// loseAnswer gives the shard's connection up, and returns the error. It is a *PartialError if a part of the answer was forwarded.
func loseAnswer(c *backend.Conn, forwarded bool, err error) error {
	e := c.Lost(true, err)
	if forwarded {
		return &PartialError{e}
	}
	return e
}
