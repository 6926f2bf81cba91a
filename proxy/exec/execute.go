package exec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/kept"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router/stmt"
)

// executePacket builds COM_STMT_EXECUTE for a connection, and prepares the statement there first if it isn't yet. If text and
// params are nil, it sends the client's own packet with another statement ID. before contains statements that are sent ahead of it.
func (x *Execution) executePacket(c *backend.Conn, text []byte, params []wire.Param, before []string) ([]byte, error) {
	p := x.Prepared
	sql := p.Text
	if text != nil {
		if string(text) != p.Sent {
			p.Sent = string(text)
		}
		sql = p.Sent
	}
	values := params
	if values == nil {
		values = x.Params
	}
	there, err := x.preparedFor(c, p.Reading.On(c.Settings()), sql, values, p.Stored)
	if err != nil {
		return nil, err
	}
	cursor := byte(mysql.CURSOR_TYPE_NO_CURSOR)
	if x.Cursor {
		cursor, x.executed = mysql.CURSOR_TYPE_READ_ONLY, there
	}
	out := x.Client.Out[:0]
	for _, b := range before {
		out, _ = wire.AppendCommand(out, mysql.COM_QUERY, []byte(b))
	}
	if params == nil && x.Client.Capabilities&mysql.CLIENT_QUERY_ATTRIBUTES == 0 && isComplete(x.Payload, p, there) {
		start := len(out)
		out, _ = wire.AppendPacket(out, 0, x.Payload)
		binary.LittleEndian.PutUint32(out[start+wire.HeaderSize+1:], there.ID)
		out[start+wire.HeaderSize+5] = cursor
		there.Types = p.Types
		x.Client.Out = out
		return out, nil
	}
	if params == nil {
		params = x.Params
		out = appendLong(out, there.ID, p.Long, params)
	}
	out, _ = wire.AppendExecute(out, wire.Execute{Statement: there.ID, Cursor: cursor, Params: params})
	there.Types = nil
	x.Client.Out = out
	return out, nil
}

// preparedFor returns the statement for an execution on c with these values. It prepares the text if c has no such statement.
func (e *Engine) preparedFor(c *backend.Conn, under *backend.Settings, sql string, values []wire.Param, stored backend.Stored) (*backend.Statement, error) {
	e.binding = backend.AppendBinding(e.binding[:0], values, stored)
	if there, ok := c.PreparedUnder(under, sql, e.binding); ok {
		return there, nil
	}
	there, err := c.PrepareUnder(e.Context, under, sql, e.binding)
	if lost, ok := errors.AsType[*backend.LostError](err); ok {
		lost.Sent = false // the execution was not sent, and only it has an effect
	}
	return there, err
}

// longPiece is the number of bytes of a value in one packet.
const longPiece = 1 << 20

// appendLong appends packets with long values, in pieces as the client sent them. In one packet with the other values they could
// exceed the shard's max_allowed_packet.
func appendLong(out []byte, statement uint32, long [][]byte, params []wire.Param) []byte {
	for i, value := range long {
		if len(value) < longPiece || i >= len(params) {
			continue
		}
		params[i].Long = true
		for piece := range slices.Chunk(value, longPiece) {
			out = wire.AppendLongData(out, wire.LongData{Statement: statement, Param: uint16(i), Piece: piece})
		}
	}
	return out
}

// isComplete reports whether the client's packet contains everything that the connection needs. Clients send the types of the
// parameters once per statement, and this connection may have the types of another session.
func isComplete(payload []byte, p *kept.Statement, there *backend.Statement) bool {
	if len(p.Long) > 0 || len(p.Added) > 0 {
		return false
	}
	return p.Params == 0 || bytes.Equal(there.Types, p.Types) || typesSent(payload, p.Params)
}

// typesSent reports whether a COM_STMT_EXECUTE contains types. A flag reports that, which follows the command, the statement, the
// cursor, the iterations and the bitmap of NULLs.
func typesSent(payload []byte, params int) bool {
	at := 1 + 4 + 1 + 4 + (params+7)/8
	return at < len(payload) && payload[at] == 1
}

// TextualName is the name under which connections prepare a text that they are about to execute. It is prepared again each time.
const TextualName = "locus_text"

// prepareTextual prepares on a connection the text that an EXECUTE is about to run there.
func (x *Execution) prepareTextual(l txn.Lease) error {
	if x.Textual == nil {
		return nil
	}
	text := strings.ReplaceAll(x.Textual.Text, "'", "''")
	if x.Textual.Reading.Mode&stmt.NoBackslash == 0 {
		text = strings.ReplaceAll(text, `\`, `\\`)
	}
	present := l.Conn.Settings()
	if err := l.Conn.Carry(x.Context, x.Textual.Reading.On(present)); err != nil {
		return err
	}
	_, err := l.Conn.Exec(x.Context, "PREPARE "+TextualName+" FROM '"+text+"'")
	if _, lost := errors.AsType[*backend.LostError](err); lost {
		return err
	}
	if back := l.Conn.Carry(x.Context, present); err == nil {
		err = back
	}
	return err
}
