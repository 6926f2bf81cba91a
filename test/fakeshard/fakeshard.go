// Package fakeshard is a server of shards for unit tests: it knows whether a transaction is open, and nothing of rows. What it
// answers can be set.
//
// It owns its connections and the log of what they were sent. It never stands for a real server where answers matter: package
// servers starts those.
package fakeshard

import (
	"encoding/binary"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/stream"
	"locus/proxy/wire"
	"locus/router"
)

// Server answers everything with OK.
type Server struct {
	listener net.Listener
	serving  sync.WaitGroup

	mu      sync.Mutex
	log     []string
	replies []Reply
	held    bool
	thread  uint32 // the last connection's number
}

// Reply is what the server does at the next statement that begins so.
type Reply struct {
	Prefix string
	Code   uint16 // refuse it with this error
	Cut    Cut
	Ends   bool // the transaction has ended with it
	// Columns and Rows are its answer, and Warnings what it counts of them. Without columns, Info is in the OK. To an execution,
	// values are in binary form.
	Columns  []wire.Column
	Rows     [][]string
	Warnings uint16
	Info     string
	Affected uint64 // rows; 0: one
	File     bool   // it asks for a file first, which stands in the log behind "FILE "
}

// Cut is where an answer ends with its connection.
type Cut uint8

const (
	Whole  Cut = iota
	Before     // there is none
	Within     // after a part of its first packet
	Amid       // after all of its rows
)

// Start starts a server, which ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{listener: l}
	s.serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.serving.Go(func() { s.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		s.serving.Wait()
	})
	return s
}

// Target is the server as a shard.
func (s *Server) Target(shard router.ShardName) backend.Target {
	return backend.Target{Shard: shard, Addr: s.listener.Addr().String(), User: "u", Password: func() (string, error) { return "", nil }}
}

// Next sets what the server does at statements to come, each once.
func (s *Server) Next(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies = append(s.replies, replies...)
}

// Hold says whether named locks that somebody asks about are held.
func (s *Server) Hold(held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = held
}

// Sent gives what came since the last time.
func (s *Server) Sent() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent := s.log
	s.log = nil
	return sent
}

// take notes a statement, and gives what is to be done at it.
func (s *Server) take(text string) (r Reply, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, text)
	i := slices.IndexFunc(s.replies, func(r Reply) bool { return strings.HasPrefix(text, r.Prefix) })
	if i < 0 {
		return r, false
	}
	r = s.replies[i]
	s.replies = slices.Delete(s.replies, i, i+1)
	return r, true
}

// conn is one connection's state at the server.
type conn struct {
	server *Server
	net.Conn
	packets    *stream.Conn
	autocommit bool
	open       bool
	prepared   []string // by ID, from 1
	binary     bool     // the answer is that to an execution
}

func (s *Server) serve(under net.Conn) {
	defer under.Close()
	packets := stream.New(under)
	c := &conn{server: s, Conn: under, packets: packets, autocommit: true}
	s.mu.Lock()
	s.thread++
	thread := s.thread
	s.mu.Unlock()
	greeting, _ := wire.AppendGreeting(nil, wire.Greeting{
		ServerVersion: "10.11.0-MariaDB", ConnectionID: thread, Capabilities: backend.Capabilities | mysql.CLIENT_CONNECT_WITH_DB,
		Collation: 45, Status: c.status(), Plugin: mysql.AUTH_NATIVE_PASSWORD,
	})
	if _, err := under.Write(greeting); err != nil {
		return
	}
	if _, _, err := packets.Payload(); err != nil {
		return
	}
	packets.Done()
	for err := c.ok(2, Reply{}); err == nil; {
		var payload []byte
		if payload, _, err = packets.Payload(); err == nil {
			err = c.answer(payload[0], string(payload[1:]))
			packets.Done()
		}
	}
}

var errCut = errors.New("cut")

func (c *conn) answer(command byte, text string) error {
	switch command {
	case mysql.COM_STMT_PREPARE:
		c.prepared = append(c.prepared, text)
		out, _ := wire.AppendPrepared(nil, 1, wire.Prepared{Statement: uint32(len(c.prepared))})
		return c.write(out)
	case mysql.COM_STMT_EXECUTE:
		text = c.prepared[binary.LittleEndian.Uint32([]byte(text))-1]
	case mysql.COM_STMT_CLOSE, mysql.COM_QUIT:
		return nil
	case mysql.COM_INIT_DB:
		return c.ok(1, Reply{})
	case mysql.COM_RESET_CONNECTION:
		c.server.take("RESET")
		c.open, c.autocommit = false, true
		return c.ok(1, Reply{})
	}
	r, set := c.server.take(text)
	c.binary = command == mysql.COM_STMT_EXECUTE
	if r.Ends {
		c.open = false
	}
	switch {
	case r.Cut == Before:
		return errCut
	case r.Cut == Within:
		_ = c.write([]byte{7, 0, 0, 1, 0})
		return errCut
	case r.Code != 0:
		out, _ := wire.AppendERR(nil, 1, &mysql.MyError{Code: r.Code, State: "HY000", Message: "refused"}, backend.Capabilities)
		return c.write(out)
	}
	c.run(text)
	if r.File {
		return c.file(r)
	}
	switch names, asks := strings.CutPrefix(text, "SELECT IS_USED_LOCK("); {
	case set && r.Cut == Amid:
		out, _ := c.table(r.Columns, r.Rows)
		return errors.Join(c.write(out), errCut)
	case set && r.Columns != nil:
		return c.rows(r.Columns, r.Rows, r.Warnings)
	case asks:
		return c.locks(strings.Count(names, "IS_USED_LOCK") + 1)
	}
	return c.ok(1, r)
}

// file takes the client's file before it answers with OK.
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
			return c.ok(seq+1, r)
		}
		content += string(piece)
		c.packets.Done()
	}
}

func (c *conn) run(text string) {
	word, _, _ := strings.Cut(text, " ")
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
	case word == "UPDATE", word == "SELECT":
		c.open = c.open || !c.autocommit
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
	ok := wire.OK{AffectedRows: max(1, r.Affected), Warnings: r.Warnings, Status: c.status(), Info: []byte(r.Info)}
	out, _ := wire.AppendOK(nil, seq, ok, backend.Capabilities)
	return c.write(out)
}

// locks says that each of n locks is held, or none.
func (c *conn) locks(n int) error {
	value := "0"
	c.server.mu.Lock()
	if c.server.held {
		value = "1"
	}
	c.server.mu.Unlock()
	return c.rows(slices.Repeat([]wire.Column{Number("x")}, n), [][]string{slices.Repeat([]string{value}, n)}, 0)
}

// Number is a column of whole numbers.
func Number(name string) wire.Column {
	return wire.Column{Name: []byte(name), Charset: 63, Type: mysql.MYSQL_TYPE_LONGLONG, Length: 20}
}

func (c *conn) rows(columns []wire.Column, rows [][]string, warnings uint16) error {
	out, seq := c.table(columns, rows)
	out, _ = wire.AppendEOF(out, seq, wire.EOF{Status: c.status(), Warnings: warnings})
	return c.write(out)
}

// table is an answer with rows, but for what ends it.
func (c *conn) table(columns []wire.Column, rows [][]string) (out []byte, seq byte) {
	out, seq = wire.AppendColumnCount(nil, 1, len(columns))
	types := make([]byte, len(columns))
	for i, column := range columns {
		types[i] = column.Type
		out, seq = wire.AppendColumn(out, seq, column)
	}
	out, seq = wire.AppendEOF(out, seq, wire.EOF{Status: c.status()})
	for _, row := range rows {
		var values [][]byte
		for _, value := range row {
			values = append(values, []byte(value))
		}
		if c.binary {
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
