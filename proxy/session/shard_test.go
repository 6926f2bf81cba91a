package session

import (
	"bytes"
	"encoding/binary"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/stream"
	"locus/proxy/wire"
)

// fakeShard is a server that accepts any login, answers SELECT with one row, and answers everything else with OK. It allocates
// nothing per command, so that a test counts the allocations of the session alone. Tests that don't count them use package
// fakeshard.
type fakeShard struct {
	listener net.Listener
	serving  sync.WaitGroup
}

func startShard(t testing.TB) *fakeShard {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeShard{listener: l}
	f.serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			f.serving.Go(func() { f.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		f.serving.Wait()
	})
	return f
}

func (f *fakeShard) addr() string { return f.listener.Addr().String() }

// shardConn is the server's state of one connection.
type shardConn struct {
	stream   *stream.Conn
	status   uint16
	prepared []bool // by ID, from 1: whether the statement is a SELECT
	out      []byte
}

func (f *fakeShard) serve(conn net.Conn) {
	defer conn.Close()
	c := &shardConn{stream: stream.New(conn), status: mysql.SERVER_STATUS_AUTOCOMMIT}
	greeting, _ := wire.AppendGreeting(nil, wire.Greeting{
		ServerVersion: "10.11.0-MariaDB", Capabilities: backend.Capabilities | mysql.CLIENT_CONNECT_WITH_DB,
		Collation: 45, Status: c.status, Plugin: mysql.AUTH_NATIVE_PASSWORD,
	})
	if _, err := conn.Write(greeting); err != nil {
		return
	}
	if _, _, err := c.stream.Payload(); err != nil {
		return
	}
	c.stream.Done()
	if c.ok(2) != nil {
		return
	}
	for {
		payload, _, err := c.stream.Payload()
		if err != nil {
			return
		}
		err = c.answer(payload)
		c.stream.Done()
		if err != nil {
			return
		}
	}
}

func (c *shardConn) answer(payload []byte) error {
	argument := payload[1:]
	switch payload[0] {
	case mysql.COM_QUERY:
		switch {
		case bytes.HasPrefix(argument, []byte("BEGIN")):
			c.status |= mysql.SERVER_STATUS_IN_TRANS
		case bytes.HasPrefix(argument, []byte("COMMIT")), bytes.HasPrefix(argument, []byte("ROLLBACK")):
			c.status &^= mysql.SERVER_STATUS_IN_TRANS
		case bytes.HasPrefix(argument, []byte("SELECT")):
			return c.row()
		}
	case mysql.COM_STMT_PREPARE:
		c.prepared = append(c.prepared, bytes.HasPrefix(argument, []byte("SELECT")))
		return c.statement(strings.Count(string(argument), "?"))
	case mysql.COM_STMT_CLOSE: // it has no answer
		return nil
	case mysql.COM_STMT_EXECUTE:
		if id := binary.LittleEndian.Uint32(argument); c.prepared[id-1] {
			return c.row()
		}
	}
	return c.ok(1)
}

func (c *shardConn) ok(seq byte) error {
	c.out, _ = wire.AppendOK(c.out[:0], seq, wire.OK{AffectedRows: 1, Status: c.status}, backend.Capabilities)
	return c.flush()
}

var oneColumn = wire.Column{Name: []byte("id"), Charset: 45, Type: mysql.MYSQL_TYPE_LONGLONG}

// row answers with a row of one column. The session doesn't read its value.
func (c *shardConn) row() error {
	out, seq := wire.AppendColumnCount(c.out[:0], 1, 1)
	out, seq = wire.AppendColumn(out, seq, oneColumn)
	out, seq = wire.AppendEOF(out, seq, wire.EOF{Status: c.status})
	out, seq = wire.AppendPacket(out, seq, []byte{1, '7'})
	c.out, _ = wire.AppendEOF(out, seq, wire.EOF{Status: c.status})
	return c.flush()
}

func (c *shardConn) statement(params int) error {
	out, seq := wire.AppendPrepared(c.out[:0], 1, wire.Prepared{Statement: uint32(len(c.prepared)), Params: uint16(params)})
	for range params {
		out, seq = wire.AppendColumn(out, seq, oneColumn)
	}
	if params > 0 {
		out, _ = wire.AppendEOF(out, seq, wire.EOF{})
	}
	c.out = out
	return c.flush()
}

func (c *shardConn) flush() error {
	_, err := c.stream.Write(c.out)
	return err
}
