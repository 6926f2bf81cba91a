package reply

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/stream"
	"locus/proxy/wire"
)

// Client is who is answered. It belongs to the goroutine of its session.
type Client struct {
	Stream       *stream.Conn
	Capabilities uint32
	Extended     bool // it is told more of columns, as MariaDB has it
	Seq          byte // of the next packet to it
	More         bool // another answer to the same command follows
	Binary       bool // rows are those of a prepared statement

	// Final gives what changes the end of a shard's answer, beside the statement's own ending. It is asked once the end is there.
	Final func(Ending) Ending
	// Tap sees the answers that are relayed; nil: nobody does.
	Tap Tap

	*Buffers // of the command under way, nil between commands
}

// Tap sees an answer as a shard sends it, before anything of it is changed for the client.
type Tap interface {
	// Begin tells that one begins. One that had begun is given up.
	Begin()
	// Saw is told the bytes that have come: whole packets, and of rows also parts of packets. They are not to be kept.
	Saw(packets []byte)
}

// Buffers are the memory in which answers are read and written.
type Buffers struct {
	Out     []byte // packets, to the client or to a shard
	Scanner wire.Scanner
}

// Compressed tells a client whose packets' numbers say nothing: those of the frames around them are checked.
func (t *Client) Compressed() bool {
	return t.Capabilities&(mysql.CLIENT_COMPRESS|mysql.CLIENT_ZSTD_COMPRESSION_ALGORITHM) != 0
}

// Flush sends packets that were built in Out.
func (t *Client) Flush(packets []byte) error {
	if t.More {
		t.Seq = wire.NextSeq(packets, t.Seq)
	}
	t.Out = packets[:0]
	_, err := t.Stream.Write(packets)
	return err
}

// OK ends an answer without rows.
func (t *Client) OK(ok wire.OK) error {
	out, _ := wire.AppendOK(t.Out[:0], t.Seq, ok, t.Capabilities)
	return t.Flush(out)
}

// Error is the answer to what has failed.
func (t *Client) Error(e *mysql.MyError) error {
	out, _ := wire.AppendERR(t.Out[:0], t.Seq, e, t.Capabilities)
	return t.Flush(out)
}
