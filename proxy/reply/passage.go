package reply

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/stream"
	"locus/proxy/wire"
)

// passage is an answer on its way through. Shards end column definitions and
// rows by EOF packets; a client that wants none gets the same bytes with the
// first left out, an OK in place of the second, and numbers that fit, all of it
// done where the bytes are.
type passage struct {
	from       *stream.Conn
	withoutEOF bool   // CLIENT_DEPRECATE_EOF
	flags      uint16 // set in what ends definitions and results
	held       int    // bytes at the start of Unread that wait for what follows
	forwarded  bool   // a part has reached the client, perhaps
	numbers    renumbering
}

func (t *Client) passage(from *stream.Conn) passage {
	p := passage{from: from, withoutEOF: t.Capabilities&mysql.CLIENT_DEPRECATE_EOF != 0}
	if t.More {
		p.flags = mysql.SERVER_MORE_RESULTS_EXISTS
	}
	return p
}

// endDefinitions holds back the column definitions, of which n bytes have come
// since the last time, until there are rows. The packet at their end is taken
// out by moving the definitions up over it.
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

// flag sets the flags of an OK or EOF packet.
func (p *passage) flag(packet []byte) error {
	if p.flags == 0 || packet[wire.HeaderSize] == mysql.ERR_HEADER {
		return nil
	}
	return wire.PatchStatus(packet, 0, p.flags)
}

// grown is a piece at the end of an answer with room behind it for what an OK
// has more than an EOF; nil if the buffer has none.
func (p *passage) grown(piece []byte) []byte {
	n := len(piece) + wire.OKOverEOF
	if len(p.from.Unread()) > len(piece) || cap(piece) < n {
		return nil
	}
	return piece[:n]
}

// renumbering gives the packets of an answer other sequence numbers. It is
// needed where packets are left out, and where the shard was sent a command of
// another number of packets than the client had sent: one that grew past 16 MiB,
// say.
type renumbering struct {
	needed bool
	next   byte
	rest   int // bytes still to come of the packet under way
}

// begin looks at the first packet of the answer; want is its right number.
func (r *renumbering) begin(b []byte, want byte, changed bool) {
	_, seq := wire.Header(b)
	r.needed, r.next = changed || seq != want, want
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
