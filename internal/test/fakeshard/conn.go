package fakeshard

import (
	"encoding/binary"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/stream"
	"locus/proxy/wire"
)

// conn is the server's state of one connection.
type conn struct {
	server *Server
	thread uint32
	net.Conn
	packets    *stream.Conn
	killed     chan struct{} // signals a kill to statements that wait for one
	autocommit bool
	open       bool
	prepared   []*statement // by ID, from 1
	binary     bool         // the current answer is the answer to an execution
}

// enrol registers a connection under a new number. It returns false if the server is down.
func (s *Server) enrol(c *conn) (ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.thread++
	s.conns[s.thread], c.thread = c, s.thread
	return !s.down
}

func (s *Server) serve(under net.Conn, v Version) {
	defer under.Close()
	packets := stream.New(under)
	c := &conn{server: s, Conn: under, packets: packets, autocommit: true, killed: make(chan struct{}, 16)}
	if !s.enrol(c) {
		return
	}
	greeting, _ := wire.AppendGreeting(nil, wire.Greeting{
		ServerVersion: string(v), ConnectionID: c.thread, Capabilities: backend.Capabilities | mysql.CLIENT_CONNECT_WITH_DB,
		Collation: 45, Status: c.status(), Plugin: mysql.AUTH_NATIVE_PASSWORD,
	})
	if _, err := under.Write(greeting); err != nil {
		return
	}
	if _, _, err := packets.Payload(); err != nil {
		return
	}
	packets.Done()
	for err := c.ok(2, Reply{None: true}); err == nil; {
		var payload []byte
		if payload, _, err = packets.Payload(); err == nil {
			err = c.answer(payload)
			packets.Done()
		}
	}
}

var errCut = errors.New("cut")

// answer answers one command.
func (c *conn) answer(payload []byte) error {
	text := string(payload[1:])
	switch payload[0] {
	case mysql.COM_QUERY:
		c.hears("%s", text)
		return c.statement(text, false)
	case mysql.COM_STMT_PREPARE:
		return c.prepare(text)
	case mysql.COM_STMT_EXECUTE:
		return c.execute(payload)
	case mysql.COM_STMT_FETCH:
		return c.fetch(payload)
	case mysql.COM_STMT_SEND_LONG_DATA:
		return c.long(payload)
	case mysql.COM_STMT_CLOSE, mysql.COM_QUIT:
		return nil
	case mysql.COM_FIELD_LIST:
		return c.fields(text)
	case mysql.COM_INIT_DB:
		c.hears("[use] %s", text)
		if r := c.server.uses(text); r.Code != 0 {
			return c.refuse(r)
		}
	case mysql.COM_RESET_CONNECTION:
		c.hears("[reset]")
		c.server.take("RESET")
		c.open, c.autocommit, c.prepared = false, true, nil
	}
	return c.ok(1, Reply{})
}

// prepare answers COM_STMT_PREPARE. It counts every question mark as a placeholder.
func (c *conn) prepare(text string) error {
	c.hears("[prepare] %s", text)
	r, columns := c.server.prepares(text)
	switch {
	case r.Cut != Whole:
		return errCut
	case r.Code != 0:
		return c.refuse(r)
	}
	st := &statement{text: text, params: strings.Count(text, "?")}
	c.prepared = append(c.prepared, st)
	out, seq := wire.AppendPrepared(nil, 1, wire.Prepared{Statement: uint32(len(c.prepared)), Params: uint16(st.params), Columns: uint16(len(columns))})
	for _, list := range [][]wire.Column{slices.Repeat([]wire.Column{Text("?")}, st.params), columns} {
		for _, column := range list {
			out, seq = wire.AppendColumn(out, seq, column)
		}
		if len(list) > 0 {
			out, seq = wire.AppendEOF(out, seq, wire.EOF{Status: c.status()})
		}
	}
	return c.write(out)
}

// execute answers COM_STMT_EXECUTE. With a cursor, it keeps the rows for COM_STMT_FETCH.
func (c *conn) execute(payload []byte) error {
	st := c.prepared[binary.LittleEndian.Uint32(payload[1:])-1]
	e, values, err := st.executed(payload)
	if err != nil {
		return err
	}
	with := ""
	if values != "" {
		with = " (" + values + ")"
	}
	if e.Cursor == 0 {
		c.hears("[execute] %s%s", st.text, with)
		return c.statement(st.text, true)
	}
	c.hears("[execute with cursor] %s%s", st.text, with)
	r, _ := c.server.take(st.text)
	c.run(st.text)
	if r.Code != 0 {
		return c.refuse(r)
	}
	out, seq := wire.AppendColumnCount(nil, 1, len(r.Columns))
	st.rows, st.kinds = r.Rows, nil
	for _, column := range r.Columns {
		st.kinds = append(st.kinds, column.Type)
		out, seq = wire.AppendColumn(out, seq, column)
	}
	out, _ = wire.AppendEOF(out, seq, wire.EOF{Status: c.status() | mysql.SERVER_STATUS_CURSOR_EXISTS})
	return c.write(out)
}

// fetch answers COM_STMT_FETCH.
func (c *conn) fetch(payload []byte) error {
	f, err := wire.ParseFetch(payload)
	if err != nil {
		return err
	}
	st := c.prepared[f.Statement-1]
	c.hears("[fetch %d] %s", f.Rows, st.text)
	if r, _ := c.server.take("FETCH"); r.Cut != Whole {
		return errCut
	} else if r.Code != 0 {
		return c.refuse(r)
	}
	n := min(int(f.Rows), len(st.rows))
	out, seq := appendRows(nil, 1, st.rows[:n], st.kinds, true)
	status := c.status() | mysql.SERVER_STATUS_CURSOR_EXISTS
	if st.rows = st.rows[n:]; n < int(f.Rows) {
		status = c.status() | mysql.SERVER_STATUS_LAST_ROW_SEND
	}
	out, _ = wire.AppendEOF(out, seq, wire.EOF{Status: status})
	return c.write(out)
}

// long receives a piece of a parameter, which has no answer.
func (c *conn) long(payload []byte) error {
	d, err := wire.ParseLongData(payload)
	if err != nil {
		return err
	}
	c.hears("[long data] %d bytes", len(d.Piece))
	st := c.prepared[d.Statement-1]
	for len(st.long) < st.params {
		st.long = append(st.long, nil)
	}
	st.long[d.Param] = append(st.long[d.Param], d.Piece...)
	return nil
}

// fields answers COM_FIELD_LIST with the columns of a SELECT from the table.
func (c *conn) fields(text string) error {
	table, _, _ := strings.Cut(text, "\x00")
	c.hears("[fields] %s", table)
	r, _ := c.server.take("FIELDS " + table)
	switch {
	case r.Cut != Whole:
		return errCut
	case r.Code != 0:
		return c.refuse(r)
	}
	var out []byte
	seq := byte(1)
	for _, column := range r.Columns {
		column.Default = []byte{}
		out, seq = wire.AppendColumn(out, seq, column)
	}
	out, _ = wire.AppendEOF(out, seq, wire.EOF{Status: c.status()})
	return c.write(out)
}

// statement answers a statement, sent as text or as an execution.
func (c *conn) statement(text string, binary bool) error {
	r, set := c.server.take(text)
	c.binary = binary
	if r.Ends {
		c.open = false
	}
	switch {
	case r.Cut == Before:
		return errCut
	case r.Cut == Within:
		_ = c.write([]byte{7, 0, 0, 1, 0})
		return errCut
	case r.Waits:
		c.server.asleep <- struct{}{}
		select {
		case <-c.killed:
		case <-c.server.ended:
			return errCut
		}
		return c.refuse(Reply{Code: mysql.ER_QUERY_INTERRUPTED, State: "70100", Message: "Query execution was interrupted"})
	case r.Code != 0:
		return c.refuse(r)
	}
	if !r.Forgets {
		c.run(text)
	}
	if r.File {
		return c.file(r)
	}
	switch names, asks := strings.CutPrefix(text, "SELECT IS_USED_LOCK("); {
	case set && r.Cut == Amid:
		out, _ := c.table(1, r.Columns, r.Rows)
		return errors.Join(c.write(out), errCut)
	case asks && (!set || r.Always):
		return c.locks(strings.Count(names, "IS_USED_LOCK") + 1)
	case set && r.Columns != nil:
		return c.results(r)
	}
	return c.ok(1, r)
}

// kill ends the waiting statement of another connection.
func (c *conn) kill(thread string) {
	id, _ := strconv.ParseUint(thread, 10, 32)
	c.server.mu.Lock()
	of := c.server.conns[uint32(id)]
	c.server.mu.Unlock()
	if of != nil {
		of.killed <- struct{}{}
	}
}

// file reads the client's file before it answers with OK.
func (c *conn) file(r Reply) error {
	c.packets.Done() // the command
	question, _ := wire.AppendPacket(nil, 1, append([]byte{mysql.LocalInFile_HEADER}, "rows.csv"...))
	if err := c.write(question); err != nil {
		return err
	}
	for content := "FILE "; ; {
		piece, seq, err := c.packets.Payload()
		if err != nil {
			return err
		}
		if len(piece) == 0 {
			c.server.take(content)
			c.hears("[file] %q", content[len("FILE "):])
			return c.ok(seq+1, r)
		}
		content += string(piece)
		c.packets.Done()
	}
}

// run applies the effects of a statement on the transaction state.
func (c *conn) run(text string) {
	word, rest, _ := strings.Cut(text, " ")
	switch {
	case strings.Contains(text, "autocommit=0"):
		c.autocommit = false
	case strings.Contains(text, "autocommit="):
		c.autocommit, c.open = true, false
	case word == "BEGIN", word == "START", strings.HasPrefix(text, "XA START"):
		c.open = true
	case word == "COMMIT", word == "ROLLBACK" && !strings.Contains(text, " TO "), word == "ALTER",
		strings.HasPrefix(text, "XA COMMIT"), strings.HasPrefix(text, "XA ROLLBACK"), strings.HasPrefix(text, "XA PREPARE"):
		c.open = false
	case word == "UPDATE", word == "SELECT" && !strings.Contains(rest, "@@"), word == "INSERT", word == "DELETE", word == "REPLACE":
		c.open = c.open || !c.autocommit
	case strings.HasPrefix(text, "KILL QUERY "):
		c.kill(strings.TrimPrefix(rest, "QUERY "))
	}
}

func (c *conn) status() uint16 {
	var status uint16
	if c.autocommit {
		status |= mysql.SERVER_STATUS_AUTOCOMMIT
	}
	if c.open {
		status |= mysql.SERVER_STATUS_IN_TRANS
	}
	return status
}

func (c *conn) ok(seq byte, r Reply) error {
	affected := max(1, r.Affected)
	if r.None {
		affected = 0
	}
	ok := wire.OK{AffectedRows: affected, LastInsertID: r.InsertID, Warnings: r.Warnings, Status: c.status(), Info: []byte(r.Info)}
	out, _ := wire.AppendOK(nil, seq, ok, backend.Capabilities)
	return c.write(out)
}

func (c *conn) refuse(r Reply) error {
	out, _ := wire.AppendERR(nil, 1, r.refusal(), backend.Capabilities)
	return c.write(out)
}

// locks answers that each of n named locks is held, or that none is.
func (c *conn) locks(n int) error {
	value := "0"
	c.server.mu.Lock()
	if c.server.held {
		value = "1"
	}
	c.server.mu.Unlock()
	return c.results(Reply{Columns: slices.Repeat([]wire.Column{Number("x")}, n), Rows: [][]string{slices.Repeat([]string{value}, n)}})
}

// results answers with a reply's rows, and with its further results.
func (c *conn) results(r Reply) error {
	var all []byte
	for seq := byte(1); ; r = *r.Then {
		status := c.status()
		if r.Then != nil {
			status |= mysql.SERVER_MORE_RESULTS_EXISTS
		}
		var out []byte
		var next byte
		if r.Columns == nil {
			out, next = wire.AppendOK(nil, seq, wire.OK{Status: status, Warnings: r.Warnings}, backend.Capabilities)
		} else {
			out, next = c.table(seq, r.Columns, r.Rows)
			out, next = wire.AppendEOF(out, next, wire.EOF{Status: status, Warnings: r.Warnings})
		}
		all, seq = append(all, out...), next
		if r.Then == nil {
			return c.write(all)
		}
	}
}

// table appends a result set without its final packet.
func (c *conn) table(seq byte, columns []wire.Column, rows [][]string) (out []byte, next byte) {
	out, seq = wire.AppendColumnCount(nil, seq, len(columns))
	types := make([]byte, len(columns))
	for i, column := range columns {
		types[i] = column.Type
		out, seq = wire.AppendColumn(out, seq, column)
	}
	out, seq = wire.AppendEOF(out, seq, wire.EOF{Status: c.status()})
	return appendRows(out, seq, rows, types, c.binary)
}

func appendRows(out []byte, seq byte, rows [][]string, types []byte, binary bool) ([]byte, byte) {
	for _, row := range rows {
		values := make([][]byte, len(row))
		for i, value := range row {
			switch {
			case value == Null:
			case binary:
				values[i] = binaryValue(value, types[i])
			default:
				values[i] = []byte(value)
			}
		}
		if binary {
			out, seq = wire.AppendBinaryRow(out, seq, values, types)
		} else {
			out, seq = wire.AppendTextRow(out, seq, values)
		}
	}
	return out, seq
}

func (c *conn) write(packets []byte) error {
	_, err := c.Write(packets)
	return err
}
