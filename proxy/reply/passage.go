package reply

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/stream"
	"locus/proxy/wire"
)

// passage is the state of an answer that is being relayed. Shards end column definitions and rows with EOF packets. For a client without EOFs the
// first EOF is removed, the second is replaced by an OK, and packets are renumbered. All of that happens in place.
type passage struct {
	from       *stream.Conn
	withoutEOF bool   // CLIENT_DEPRECATE_EOF
	flags      uint16 // set in the packets that end definitions and results
	cleared    uint16 // cleared in these packets
	held       int    // number of bytes at the start of Unread that are not sent until the next packets arrive
	forwarded  bool   // part of the answer may have reached the client
	numbers    renumbering
}

func (t *Client) newPassage(from *stream.Conn, flags uint16) passage {
	p := passage{from: from, withoutEOF: t.Capabilities&mysql.CLIENT_DEPRECATE_EOF != 0, flags: flags, cleared: t.Cleared}
	if t.More {
		p.flags |= mysql.SERVER_MORE_RESULTS_EXISTS
	}
	return p
}

// endDefinitions holds the column definitions back until there are rows. n bytes arrived since the last call. For a client without EOFs it
// removes the final packet by moving the definitions over it.
func (p *passage) endDefinitions(n, packet int) error {
	p.held += n
	b := p.from.Unread()
	if !p.withoutEOF {
		return p.flag(b[p.held-packet : p.held])
	}
	copy(b[packet:p.held], b[:p.held-packet])
	p.from.Discard(packet)
	p.held -= packet
	return nil
}

// flag sets and clears flags of an OK or EOF packet.
func (p *passage) flag(packet []byte) error {
	if p.flags|p.cleared == 0 || packet[wire.HeaderSize] == mysql.ERR_HEADER {
		return nil
	}
	return wire.PatchStatus(packet, p.cleared, p.flags)
}

// grown returns the end of an answer, extended by the bytes by which an OK is longer than an EOF. It returns nil if the buffer has no space for
// them.
func (p *passage) grown(piece []byte) []byte {
	n := len(piece) + wire.OKOverEOF
	if len(p.from.Unread()) > len(piece) || cap(piece) < n {
		return nil
	}
	return piece[:n]
}

// renumbering rewrites the sequence numbers of an answer's packets. It is needed if packets are removed. It is also needed if the command to the
// shard had another number of packets than the client's, for example because it grew beyond 16 MiB.
type renumbering struct {
	needed bool
	next   byte
	rest   int // bytes of the current packet that have not arrived
}

// begin examines the first packet of the answer. want is its correct number.
func (r *renumbering) begin(b []byte, want byte, changed bool) {
	_, seq := wire.Header(b)
	r.needed, r.next = changed || seq != want, want
}

// apply renumbers in place. Pieces begin and end at the scanner's boundaries, never within a header.
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
