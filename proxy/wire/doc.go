// Package wire reads and writes MySQL's client/server protocol on byte slices.
//
// It owns the bytes: framing, length-encoded values, OK, EOF and ERR, column definitions, rows, prepared statements, the packets of
// the login, and the [Scanner] that finds where a response ends. It never touches a socket, starts a goroutine, waits, or knows what
// a statement means.
//
// # Conventions
//
// A packet is a header of four bytes (payload length in three, little endian, and a sequence number) and a payload. Payloads of
// 0xffffff bytes and more travel as several packets; see [AppendPacket].
//
// ParseX takes a payload, without its header, and returns views into it: they are valid as long as the payload is. Whatever the bytes,
// ParseX returns an error that wraps [ErrMalformed] and never panics, so a hostile peer can do no more than lose its connection.
//
// AppendX appends whole packets, headers included, to dst and returns dst and the next sequence number, so that a response is built
// and sent with one write:
//
//	out, seq = wire.AppendColumnCount(out, seq, 1)
//	out, seq = wire.AppendColumn(out, seq, column)
//	out, seq = wire.AppendEOF(out, seq, wire.EOF{Status: status})
//	out, seq = wire.AppendTextRow(out, seq, values)
//	out, _ = wire.AppendEOF(out, seq, wire.EOF{Status: status})
//
// Functions that take capabilities want those that both sides agreed on. Constants of the protocol (commands, capabilities, status
// flags, column types, error codes) are those of github.com/go-mysql-org/go-mysql/mysql and aren't repeated here.
//
// # Relaying a response
//
// Scanner looks at what has arrived so far and says how much of it belongs to the response. Rows are never decoded nor held back, so
// a row of 60 MB passes through a buffer of 16 KiB:
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
