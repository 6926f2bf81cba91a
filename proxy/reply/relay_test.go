package reply

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/fakeshard"
	"locus/proxy/backend"
	"locus/proxy/stream"
	"locus/proxy/wire"
)

// stand contains a client, and a shard that answers it.
type stand struct {
	Client
	t     testing.TB
	near  net.Conn
	shard *fakeshard.Server
	conn  *backend.Conn
	flags uint16 // set in the answers of the shard
}

func newStand(t testing.TB, capabilities uint32) *stand {
	t.Helper()
	c := fakeshard.NewCluster(t)
	pool, _ := c.Pools.Pool("s0")
	conn, err := pool.Borrow(context.Background(), backend.Default, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Discard(conn) })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	return &stand{
		t: t, near: near, shard: c.Shards["s0"], conn: conn,
		Client: Client{Stream: stream.New(far), Capabilities: capabilities, Seq: 1, Buffers: new(Buffers), Final: func(last Ending) Ending { return last }},
	}
}

// ask makes the shard answer a statement, and relays the answer.
func (s *stand) ask(reply fakeshard.Reply, last Ending) error {
	s.t.Helper()
	reply.Prefix = "ASK"
	s.shard.Next(reply)
	out, _ := wire.AppendCommand(nil, mysql.COM_QUERY, []byte("ASK"))
	if err := s.conn.Send(out, backend.Nothing); err != nil {
		s.t.Fatal(err)
	}
	return s.Relay(s.conn, wire.QueryResponse, s.flags, last)
}

// packets returns the packets that the client got. It checks their numbers, which begin with the number of the answer.
func (s *stand) packets() (list [][]byte) {
	s.t.Helper()
	_ = s.Stream.Close()
	all, err := io.ReadAll(s.near)
	if err != nil {
		s.t.Fatal(err)
	}
	for want := byte(1); len(all) > 0; want++ {
		n, seq := wire.Header(all)
		if seq != want {
			s.t.Errorf("packet %d where %d is due", seq, want)
		}
		list = append(list, all[wire.HeaderSize:wire.HeaderSize+n])
		all = all[wire.HeaderSize+n:]
	}
	return list
}

var oneRow = fakeshard.Reply{Columns: []wire.Column{fakeshard.Number("n")}, Rows: [][]string{{"7"}}, Warnings: 3}

// An old client gets a shard's packets unchanged. A client without EOFs gets the rows without the first EOF, and an OK in place of the second.
func TestRelay(t *testing.T) {
	for _, c := range []struct {
		capabilities uint32
		more         bool
		packets      int
		end          byte
	}{
		{mysql.CLIENT_PROTOCOL_41, false, 5, mysql.EOF_HEADER},
		{mysql.CLIENT_PROTOCOL_41, true, 5, mysql.EOF_HEADER},
		{mysql.CLIENT_PROTOCOL_41 | mysql.CLIENT_DEPRECATE_EOF, false, 4, mysql.EOF_HEADER},
		{mysql.CLIENT_PROTOCOL_41 | mysql.CLIENT_DEPRECATE_EOF, true, 4, mysql.EOF_HEADER},
	} {
		s := newStand(t, c.capabilities)
		s.More, s.flags = c.more, mysql.SERVER_STATUS_IN_TRANS
		if err := s.ask(oneRow, nil); err != nil {
			t.Fatal(err)
		}
		if s.Scanner.Rows() != 1 || s.Scanner.Warnings() != 3 || int(s.Seq) != 1+c.packets {
			t.Errorf("%+v: %d rows, %d warnings, next is %d", c, s.Scanner.Rows(), s.Scanner.Warnings(), s.Seq)
		}
		list := s.packets()
		if len(list) != c.packets || string(list[len(list)-2]) != "\x017" {
			t.Fatalf("%+v: %q", c, list)
		}
		last := list[len(list)-1]
		status := uint16(last[len(last)-2]) | uint16(last[len(last)-1])<<8 // an EOF has the status at its end
		if c.packets == 4 {
			ok, err := wire.ParseOK(last, c.capabilities)
			if status = ok.Status; err != nil || ok.Warnings != 3 {
				t.Errorf("%+v: %+v, %v", c, ok, err)
			}
		}
		if last[0] != c.end || status&mysql.SERVER_MORE_RESULTS_EXISTS != 0 != c.more || status&mysql.SERVER_STATUS_IN_TRANS == 0 {
			t.Errorf("%+v: ends with % x", c, last)
		}
		if definitions := list[2]; c.packets == 5 && uint16(definitions[3])&mysql.SERVER_STATUS_IN_TRANS == 0 {
			t.Errorf("%+v: definitions end with % x", c, definitions)
		}
	}
}

// The packet at the end is held back until the statement's ending has changed it, whatever packets come before it.
func TestRelayEnding(t *testing.T) {
	for _, capabilities := range []uint32{mysql.CLIENT_PROTOCOL_41, mysql.CLIENT_PROTOCOL_41 | mysql.CLIENT_DEPRECATE_EOF} {
		s := newStand(t, capabilities)
		var ended []byte
		last := func(dst, packet []byte) ([]byte, error) {
			ended = bytes.Clone(packet)
			return append(dst, packet...), nil
		}
		if err := s.ask(oneRow, last); err != nil || !wire.IsEOF(ended[wire.HeaderSize:]) {
			t.Errorf("%v, ended with % x", err, ended)
		}
		if n := len(s.packets()); n < 4 {
			t.Errorf("%d packets", n)
		}
	}
	s, why := newStand(t, mysql.CLIENT_PROTOCOL_41), errors.New("no")
	err := s.ask(fakeshard.Reply{}, func([]byte, []byte) ([]byte, error) { return nil, why })
	if _, halfway := errors.AsType[*PartialError](err); !halfway || !errors.Is(err, why) {
		t.Error(err)
	}
}

// The client gets an error if a shard is lost before its answer. After a part of the answer it can't get one.
func TestRelayLost(t *testing.T) {
	for cut, halfway := range map[fakeshard.Cut]bool{fakeshard.Before: false, fakeshard.Within: false, fakeshard.Amid: true} {
		s, reply := newStand(t, mysql.CLIENT_PROTOCOL_41), oneRow
		reply.Cut = cut
		err := s.ask(reply, nil)
		_, told := errors.AsType[*PartialError](err)
		if _, lost := errors.AsType[*backend.LostError](err); !lost || told != halfway || len(s.packets()) > 0 != halfway {
			t.Errorf("cut %d: %v", cut, err)
		}
	}
}

// A shard's refusal is an answer. An error about its shutdown is not.
func TestRelayRefusal(t *testing.T) {
	s := newStand(t, mysql.CLIENT_PROTOCOL_41)
	if err := s.ask(fakeshard.Reply{Code: mysql.ER_DUP_ENTRY}, nil); err != nil {
		t.Error(err)
	}
	if code, failed := s.Scanner.ErrCode(); !failed || code != mysql.ER_DUP_ENTRY || len(s.packets()) != 1 {
		t.Errorf("error %d", code)
	}
	s = newStand(t, mysql.CLIENT_PROTOCOL_41)
	err := s.ask(fakeshard.Reply{Code: mysql.ER_SERVER_SHUTDOWN}, nil)
	if _, lost := errors.AsType[*backend.LostError](err); !lost || len(s.packets()) != 0 {
		t.Error(err)
	}
}

// If the client is gone, the session ends, and the shard's connection is not blamed.
func TestRelayClientGone(t *testing.T) {
	s := newStand(t, mysql.CLIENT_PROTOCOL_41)
	_ = s.Stream.Close()
	if _, gone := errors.AsType[*GoneError](s.ask(oneRow, nil)); !gone {
		t.Error("a closed client was written to")
	}
}

// file returns the packets of a client's file, which are numbered after the request.
func sentFile(pieces ...string) (out []byte) {
	seq := byte(2)
	for _, piece := range append(pieces, "") {
		out, seq = wire.AppendPacket(out, seq, []byte(piece))
	}
	return out
}

// A client's file is forwarded to the shard as it arrives, and the shard's answer follows to the client.
func TestRelayFile(t *testing.T) {
	s := newStand(t, mysql.CLIENT_PROTOCOL_41|mysql.CLIENT_LOCAL_FILES)
	if _, err := s.near.Write(sentFile("1,2\n", "3,4\n")); err != nil {
		t.Fatal(err)
	}
	if err := s.ask(fakeshard.Reply{File: true}, nil); err != nil {
		t.Fatal(err)
	}
	if sent := strings.Join(s.shard.Statements(), "; "); sent != "ASK; FILE 1,2\n3,4\n" || s.Seq != 6 {
		t.Errorf("%q, next is %d", sent, s.Seq)
	}
}

// File packets out of order end the session, because the start of the next command is unknown.
func TestRelayFileOutOfOrder(t *testing.T) {
	s := newStand(t, mysql.CLIENT_PROTOCOL_41|mysql.CLIENT_LOCAL_FILES)
	wrong := sentFile("1,2\n")
	wrong[3] = 9
	if _, err := s.near.Write(wrong); err != nil {
		t.Fatal(err)
	}
	err := s.ask(fakeshard.Reply{File: true}, nil)
	if _, gone := errors.AsType[*GoneError](err); !gone || !errors.Is(err, stream.ErrOutOfOrder) {
		t.Error(err)
	}
}

// A client that may not send files gets no request. The shard gets an empty file, and its connection stays usable.
func TestRelayNoFile(t *testing.T) {
	s := newStand(t, mysql.CLIENT_PROTOCOL_41)
	if err := s.ask(fakeshard.Reply{File: true}, nil); !errors.Is(err, ErrNoFile) {
		t.Error(err)
	}
	if sent := strings.Join(s.shard.Statements(), "; "); sent != "ASK; FILE " || !s.conn.Usable() {
		t.Errorf("%q", sent)
	}
	if list := s.packets(); len(list) != 0 {
		t.Errorf("the client was asked %q", list)
	}
}

// The session's own tables are in text or binary form, depending on the client's command.
func TestTables(t *testing.T) {
	columns := TextColumns([]string{"a", "b"}, [][]string{{"x", "long"}})
	columns = append(columns, fakeshard.Number("n"))
	for _, binary := range []bool{false, true} {
		s := newStand(t, mysql.CLIENT_PROTOCOL_41)
		s.Binary = binary
		if err := s.Rows(columns, [][][]byte{{[]byte("x"), []byte("long"), []byte("7")}}, 0); err != nil {
			t.Fatal(err)
		}
		list := s.packets()
		want := "\x01x\x04long\x017"
		if binary {
			want = "\x00\x00\x01x\x04long\x07\x00\x00\x00\x00\x00\x00\x00"
		}
		if len(list) != 7 || string(list[5]) != want || columns[1].Length != 16 {
			t.Errorf("%q", list)
		}
	}
	s := newStand(t, mysql.CLIENT_PROTOCOL_41)
	if err := s.Rows(columns[:1], [][][]byte{{nil}}, 0); err != nil {
		t.Fatal(err)
	}
	if list := s.packets(); len(list) != 5 || string(list[3]) != "\xfb" {
		t.Errorf("%q", list)
	}
}
