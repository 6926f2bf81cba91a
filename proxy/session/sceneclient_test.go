package session_test

import (
	"encoding/binary"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/stream"
	"locus/proxy/wire"
)

// client speaks the protocol. It records the packets that it receives, with a line for each packet that has content.
type client struct {
	t            testing.TB
	net          net.Conn
	packets      *stream.Conn
	capabilities uint32
	seq          byte // of the last packet
	file         string
	statements   map[string]*prepared
	sent         int    // in bytes
	sends        func() // called before each write
}

// prepared is a statement that the client has prepared.
type prepared struct {
	id      uint32
	params  int
	columns []wire.Column // of the result
}

// send sends a command. The packets of its answer continue the command's sequence numbers.
func (c *client) send(payload []byte) {
	packets, _ := wire.AppendPacket(nil, 0, payload)
	c.write(packets)
	c.seq = 0
}

func (c *client) write(packets []byte) {
	c.sent += len(packets)
	c.sends()
	_, _ = c.net.Write(packets) // the answers of an ended session show its end
}

// next reads a packet. It returns false if the connection is closed.
func (c *client) next() ([]byte, bool) {
	payload, seq, err := c.packets.Payload()
	if err != nil {
		return nil, false
	}
	if c.seq++; seq != c.seq {
		c.t.Errorf("packet %d where %d is due", seq, c.seq)
		c.seq = seq
	}
	return payload, true
}

// cut is the line for an answer that ends with its connection.
const cut = "the connection is closed"

// answer reads the answer to a statement with all of its results.
func (c *client) answer(columns []wire.Column, binary bool) (lines []string) {
	for {
		result, more := c.result(binary)
		if lines = append(lines, result...); !more {
			return lines
		}
	}
}

// result reads one result, and reports whether more follow.
func (c *client) result(binary bool) (lines []string, more bool) {
	head, ok := c.next()
	c.packets.Done()
	switch {
	case !ok:
		return []string{cut}, false
	case wire.IsERR(head):
		return []string{c.refusal(head)}, false
	case head[0] == mysql.OK_HEADER:
		return c.ok(head, "ok")
	case head[0] == mysql.LocalInFile_HEADER:
		lines := []string{"asked for the file " + string(head[1:])}
		c.sendFile()
		rest, more := c.result(binary)
		return append(lines, rest...), more
	}
	n, _ := wire.LenInt(head)
	columns, end, ok := c.definitions(int(n), c.capabilities&mysql.CLIENT_DEPRECATE_EOF == 0)
	if !ok {
		return []string{cut}, false
	}
	names := "| " + named(columns)
	if status := statusOf(end); status&mysql.SERVER_STATUS_CURSOR_EXISTS != 0 {
		return []string{names, "a cursor is open" + flags(status&^mysql.SERVER_STATUS_CURSOR_EXISTS)}, false
	}
	lines, more = c.rows(columns, binary)
	return append([]string{names}, lines...), more
}

// definitions reads n columns and the packet that ends them. With CLIENT_DEPRECATE_EOF there is no such packet.
func (c *client) definitions(n int, ended bool) (columns []wire.Column, end []byte, ok bool) {
	for range n {
		payload, there := c.next()
		if !there {
			return nil, nil, false
		}
		column, err := wire.ParseColumn(append([]byte(nil), payload...))
		if err != nil {
			c.t.Error(err)
		}
		columns = append(columns, column)
		c.packets.Done()
	}
	if n > 0 && ended {
		payload, there := c.next()
		if !there {
			return nil, nil, false
		}
		end = append(end, payload...)
		c.packets.Done()
		if !wire.IsEOF(end) {
			c.t.Errorf("% x where the definitions end", end)
		}
	}
	return columns, end, true
}

func named(columns []wire.Column) string {
	var names []string
	for _, column := range columns {
		names = append(names, string(column.Name))
	}
	return strings.Join(names, ", ")
}

// rows reads rows up to their end.
func (c *client) rows(columns []wire.Column, binary bool) (lines []string, more bool) {
	types := make([]byte, len(columns))
	for i, column := range columns {
		types[i] = column.Type
	}
	for {
		payload, ok := c.next()
		switch {
		case !ok:
			return append(lines, cut), false
		case wire.IsERR(payload):
			defer c.packets.Done()
			return append(lines, c.refusal(payload)), false
		case payload[0] == mysql.EOF_HEADER && len(payload) < wire.MaxPayload:
			defer c.packets.Done()
			end, more := c.end(payload)
			return append(lines, end...), more
		}
		var values [][]byte
		var err error
		if binary {
			values, err = wire.SplitBinaryRow(nil, payload, types)
		} else {
			values, err = wire.SplitTextRow(nil, payload, len(columns))
		}
		if err != nil {
			c.t.Error(err)
		}
		lines = append(lines, "| "+shown(values, types, binary))
		c.packets.Done()
	}
}

func shown(values [][]byte, types []byte, binary bool) string {
	var texts []string
	for i, v := range values {
		switch {
		case v == nil:
			texts = append(texts, "NULL")
		case binary && types[i] == mysql.MYSQL_TYPE_LONGLONG:
			texts = append(texts, strconv.FormatInt(wire.Int(v), 10))
		default:
			texts = append(texts, string(v))
		}
	}
	return strings.Join(texts, ", ")
}

// end reads the packet that ends rows.
func (c *client) end(payload []byte) (lines []string, more bool) {
	if c.capabilities&mysql.CLIENT_DEPRECATE_EOF != 0 {
		return c.ok(payload, "end")
	}
	eof, err := wire.ParseEOF(payload)
	if err != nil {
		c.t.Error(err)
	}
	line := "end"
	if eof.Warnings > 0 {
		line += fmt.Sprintf(", %d warnings", eof.Warnings)
	}
	return []string{line + flags(eof.Status)}, eof.Status&mysql.SERVER_MORE_RESULTS_EXISTS != 0
}

func (c *client) ok(payload []byte, line string) (lines []string, more bool) {
	ok, err := wire.ParseOK(payload, c.capabilities)
	if err != nil {
		c.t.Error(err)
	}
	if ok.AffectedRows > 0 {
		line += fmt.Sprintf(", %d rows", ok.AffectedRows)
	}
	if ok.LastInsertID > 0 {
		line += fmt.Sprintf(", id %d", ok.LastInsertID)
	}
	if ok.Warnings > 0 {
		line += fmt.Sprintf(", %d warnings", ok.Warnings)
	}
	if len(ok.Info) > 0 {
		line += fmt.Sprintf(", %q", ok.Info)
	}
	lines = append(lines, line+flags(ok.Status))
	for changes := ok.Changes; len(changes) > 0; {
		var change wire.Change
		if change, changes, err = wire.NextChange(changes); err != nil {
			c.t.Error(err)
			break
		}
		lines = append(lines, tracked(change))
	}
	return lines, ok.Status&mysql.SERVER_MORE_RESULTS_EXISTS != 0
}

func tracked(change wire.Change) string {
	if name, value, err := change.Variable(); err == nil && change.Kind == mysql.SESSION_TRACK_SYSTEM_VARIABLES {
		return fmt.Sprintf("tracked: %s = %s", name, value)
	}
	text, _ := change.Text()
	return fmt.Sprintf("tracked: [%d] %s", change.Kind, text)
}

// flags returns the words for the status flags except autocommit.
func flags(status uint16) (words string) {
	for _, flag := range []struct {
		bit  uint16
		word string
	}{
		{mysql.SERVER_STATUS_IN_TRANS, "in transaction"},
		{0x2000, "read only"},
		{mysql.SERVER_STATUS_NO_BACKSLASH_ESCAPED, "no backslash escapes"},
		{mysql.SERVER_STATUS_CURSOR_EXISTS, "a cursor is open"},
		{mysql.SERVER_STATUS_LAST_ROW_SEND, "last row"},
		{1 << 15, "ansi quotes"},
		{mysql.SERVER_MORE_RESULTS_EXISTS, "more follow"},
	} {
		if status&flag.bit != 0 {
			words += ", " + flag.word
		}
	}
	if status&mysql.SERVER_STATUS_AUTOCOMMIT == 0 {
		words += ", autocommit off"
	}
	return words
}

func statusOf(eof []byte) uint16 {
	if len(eof) < 5 {
		return 0
	}
	return binary.LittleEndian.Uint16(eof[3:])
}

func (c *client) refusal(payload []byte) string {
	e, err := wire.ParseERR(payload)
	if err != nil {
		c.t.Error(err)
	}
	return fmt.Sprintf("error %d (%s): %s", e.Code, e.State, e.Message)
}

// sendFile sends the file that a LOAD DATA LOCAL requests.
func (c *client) sendFile() {
	var packets []byte
	seq := c.seq + 1
	for _, piece := range []string{c.file, ""} {
		if piece == "" && len(packets) > 0 && c.file == "" {
			break
		}
		packets, seq = wire.AppendPacket(packets, seq, []byte(piece))
	}
	c.seq = seq - 1
	c.write(packets)
}

// prepare prepares a text under a name.
func (c *client) prepare(name, text string) []string {
	c.send(append([]byte{mysql.COM_STMT_PREPARE}, text...))
	head, ok := c.next()
	defer c.packets.Done()
	switch {
	case !ok:
		return []string{cut}
	case wire.IsERR(head):
		return []string{c.refusal(head)}
	}
	p, err := wire.ParsePrepared(head)
	if err != nil {
		c.t.Fatal(err)
	}
	c.packets.Done()
	eofs := c.capabilities&mysql.CLIENT_DEPRECATE_EOF == 0
	params, _, _ := c.definitions(int(p.Params), eofs)
	columns, _, _ := c.definitions(int(p.Columns), eofs)
	c.statements[name] = &prepared{id: p.Statement, params: len(params), columns: columns}
	line := fmt.Sprintf("prepared, %d parameters", len(params))
	if len(columns) > 0 {
		line += ", columns " + named(columns)
	}
	return []string{line}
}

// execute sends an execution with values that are written as in SQL.
func (c *client) execute(name string, cursor byte, values []string) {
	p := c.statements[name]
	e := wire.Execute{Statement: p.id, Cursor: cursor}
	for _, value := range values {
		e.Params = append(e.Params, param(value))
	}
	packets, _ := wire.AppendExecute(nil, e)
	c.seq = 0
	c.write(packets)
}

// param returns a parameter: NULL, a number, a text in quotes, or LONG for one that was sent before.
func param(value string) wire.Param {
	n, err := strconv.ParseInt(value, 10, 64)
	switch {
	case value == "NULL":
		return wire.Param{Type: mysql.MYSQL_TYPE_NULL}
	case value == "LONG":
		return wire.Param{Type: mysql.MYSQL_TYPE_BLOB, Long: true, Value: []byte{}}
	case err == nil:
		return wire.Param{Type: mysql.MYSQL_TYPE_LONGLONG, Value: binary.LittleEndian.AppendUint64(nil, uint64(n))}
	}
	return wire.Param{Type: mysql.MYSQL_TYPE_VAR_STRING, Value: []byte(strings.Trim(value, "'"))}
}
