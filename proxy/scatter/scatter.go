package scatter

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/reply"
	"locus/router/plan"
)

// Options are how an answer is given.
type Options struct {
	Status   uint16 // SERVER_STATUS_… flags of the answer
	Warnings int    // that the answer has beside those of the shards
	// Whole has every answer read to its end, however long: the connections are
	// in a transaction, which would be lost with one that is given up.
	Whole bool
	// Ended, if not nil, is told of each connection, by its index, whose answer was
	// read to its end, and of the error's number that it ended with.
	Ended func(i int, code uint16)
}

// Format is how rows are encoded, by the shards and for the client.
type Format uint8

const (
	Text   Format = iota // answers to COM_QUERY
	Binary               // answers to COM_STMT_EXECUTE
)

// Limit is a LIMIT clause with its values; the shards were asked for
// Offset + Count rows from the first.
type Limit struct {
	Offset, Count uint64
	Set           bool // false: all rows
}

// Outcome says what became of the connections and of the answer.
type Outcome struct {
	// Clean says of each connection whether its answer was read to its end, so
	// that it may be used again.
	Clean []bool
	// Status is the flags of each connection's final packet, 0 if there was none
	// with flags.
	Status []uint16
	// Sent: a part of the answer may have reached the client, or all of it.
	Sent     bool
	Warnings int    // over all shards
	Rows     uint64 // that the client got
	Found    uint64 // and those before them, which OFFSET leaves out
	// NextSeq numbers what the client is sent next.
	NextSeq byte
	// Err is a shard's error that was passed to the client behind rows.
	Err *mysql.MyError
}

// ClientError is a client that can't be written to any more.
type ClientError struct{ Err error }

func (e *ClientError) Error() string { return "write to client: " + e.Err.Error() }
func (e *ClientError) Unwrap() error { return e.Err }

// Merge writes one answer to the client, which the caller tells the number of the next packet: Outcome.NextSeq. Without an error the client has all of
// it, or an ERR packet that Outcome.Err tells. The errors:
//
//   - *mysql.MyError of a shard and *plan.Refusal, about answers that can't be
//     merged: nothing was sent, the caller writes it;
//   - *backend.LostError: the caller writes it unless Outcome.Sent says that a
//     part of the answer is at the client already;
//   - *ClientError.
func Merge(conns []*backend.Conn, m *plan.Merge, format Format, limit Limit, to *reply.Client, as Options) (Outcome, error) {
	sources := make([]source, len(conns))
	for i, c := range conns {
		sources[i] = c
	}
	return merge(sources, m, format, limit, to, as)
}
