package reply

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/stream"
	"locus/proxy/wire"
)

// Client is the client that a session answers. Only the session's goroutine uses it.
type Client struct {
	Stream       *stream.Conn
	Capabilities uint32
	Extended     bool   // the client gets MariaDB's extended column metadata
	Seq          byte   // the number of the next packet to the client
	More         bool   // another answer to the same command follows
	Binary       bool   // rows are in the binary protocol
	Warned       int    // a lower limit of the number of warnings at the end of relayed rows, from the shards of the rows' groups
	Cleared      uint16 // flags to clear in the packets that end definitions and results of a shard

	Added int // warnings of the proxy's own, in addition to the shards'

	// Final returns a function that changes the end of a shard's answer, in addition to the statement's own. It is called once
	// the end has arrived.
	Final func(Ending) Ending
	// Tap observes relayed answers. It may be nil.
	Tap Tap

	*Buffers // buffers for the current command; nil between commands
}

// Tap observes an answer as a shard sends it, before any change for the client.
type Tap interface {
	// Begin is called at the start of an answer. An unfinished one is abandoned.
	Begin()
	// Saw is called with received bytes: whole packets, or parts of row packets. It must not keep them.
	Saw(packets []byte)
}

// Buffers contains the memory for reading and writing answers.
type Buffers struct {
	Out     []byte // packets to the client or to a shard
	Scanner wire.Scanner
}

// Profile returns the part of a connection's profile that the client's choices at login require.
func (t *Client) Profile() (p backend.Profile) {
	if t.Capabilities&mysql.CLIENT_FOUND_ROWS != 0 {
		p |= backend.FoundRows
	}
	if t.Extended {
		p |= backend.ExtendedMetadata
	}
	return p
}

// Compressed reports whether the client uses compression. The numbers of its packets don't matter then, because only the
// numbers of the compressed frames are checked.
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

// OK sends an answer without rows.
func (t *Client) OK(ok wire.OK) error {
	out, _ := wire.AppendOK(t.Out[:0], t.Seq, ok, t.Capabilities)
	return t.Flush(out)
}

// Error sends an error.
func (t *Client) Error(e *mysql.MyError) error {
	out, _ := wire.AppendERR(t.Out[:0], t.Seq, e, t.Capabilities)
	return t.Flush(out)
}
