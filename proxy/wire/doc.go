// Package wire reads and writes MySQL's client/server protocol on byte slices.
//
// It owns the encoding: framing, length-encoded values, OK, EOF and ERR packets, column definitions, rows, prepared statements and the
// login packets. Its [Scanner] finds the end of a response. It never touches a socket, starts a goroutine, waits or interprets a
// statement.
//
// # Conventions
//
// A packet is a header of four bytes and a payload. The header holds the payload's length in three bytes, little endian, and a
// sequence number. A payload of 0xffffff bytes or more takes several packets; see [AppendPacket].
//
// ParseX takes a payload without its header and returns views into it. The views are valid for as long as the payload is. ParseX never
// panics. It returns an error that wraps [ErrMalformed] for bytes that violate the protocol, so a hostile peer can only lose its own
// connection.
//
// AppendX appends whole packets, headers included, to dst. It returns dst and the next sequence number, so a response can be built and
// sent with one write:
//
//	out, seq = wire.AppendColumnCount(out, seq, 1)
//	out, seq = wire.AppendColumn(out, seq, column)
//	out, seq = wire.AppendEOF(out, seq, wire.EOF{Status: status})
//	out, seq = wire.AppendTextRow(out, seq, values)
//	out, _ = wire.AppendEOF(out, seq, wire.EOF{Status: status})
//
// Functions that take capabilities expect those that both sides negotiated. The protocol's constants (commands, capabilities, status
// flags, column types, error codes) are those of github.com/go-mysql-org/go-mysql/mysql and aren't repeated here.
//
// # Relaying a response
//
// Scanner examines the bytes that have arrived and returns how many of them belong to the response. It neither decodes nor holds back
// rows, so a row of 60 MB passes through a buffer of 16 KiB:
//
//	scan.Reset(wire.QueryResponse)
//	for {
//		n, state, err := scan.Scan(backend.Unread())
//		...
//		client.Write(backend.Unread()[:n])
//		backend.Discard(n)
//		switch state {
//		case wire.Done:
//			return scan.Status()
//		case wire.NeedBytes:
//			backend.Fill()
//		}
//	}
package wire
