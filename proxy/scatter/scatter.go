package scatter

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/reply"
	"locus/router/plan"
)

// Options set how an answer is returned.
type Options struct {
	Status   uint16 // SERVER_STATUS_… flags of the answer
	Warnings int    // number of warnings in addition to the shards' warnings
	// Whole makes Merge read every answer to its end, regardless of length. The connections are in a transaction, which would be lost
	// together with an abandoned connection.
	Whole bool
	// ZeroIsNull, if not nil, reports whether the servers sort a zero date like NULL if an expression of a type returns it.
	ZeroIsNull func(typ byte) bool
	// RawTexts: texts come as byte strings, since character_set_results is binary. Then the answer does not show in which order they are.
	RawTexts bool
	// MostHeld is the number of bytes that [Hold] keeps at most.
	MostHeld int64
	// Ended, if not nil, is called for each answer that was read to its end, with the connection's index and the error code at the end (0
	// if none).
	Ended func(i int, code uint16)
}

// Format is the encoding of rows, both from the shards and to the client.
type Format uint8

const (
	Text   Format = iota // answers to COM_QUERY
	Binary               // answers to COM_STMT_EXECUTE
)

// Outcome is the state of the connections and of the answer after a merge.
type Outcome struct {
	// Clean reports for each connection whether its answer was read to its end, so that the connection can be reused.
	Clean []bool
	// Status holds the flags of each connection's final packet, or 0 if it had none.
	Status []uint16
	// Sent reports that the client may have received part of the answer, or all of it.
	Sent     bool
	Warnings int    // of all shards
	Rows     uint64 // rows that the client got
	Found    uint64 // Rows plus those that OFFSET skipped
	// NextSeq is the number of the next packet to the client.
	NextSeq byte
	// Err is a shard's error that was sent to the client after rows.
	Err *mysql.MyError
}

// ClientError means that the client can no longer be written to.
type ClientError struct{ Err error }

func (e *ClientError) Error() string { return "write to client: " + e.Err.Error() }
func (e *ClientError) Unwrap() error { return e.Err }

// Merge writes one answer to the client. The caller sets the client's next packet number from Outcome.NextSeq. If err is nil, the client
// has the whole answer, or rows and then the ERR packet in Outcome.Err. The errors are:
//
//   - *mysql.MyError of a shard, or *plan.Refusal about answers that can't be merged: nothing was sent, and the caller sends the error;
//   - *backend.LostError: the caller sends the error unless Outcome.Sent reports that part of the answer was sent;
//   - *ClientError.
func Merge(conns []*backend.Conn, m *plan.Merge, format Format, limit plan.Window, to *reply.Client, as Options) (Outcome, error) {
	return merge(sourcesOf(conns), m, format, limit, to, as)
}

// Held is one answer of several shards that the client has not been sent yet.
type Held struct {
	out      output
	warnings int
}

// Hold reads whole answers to a change, such as those to INSERT … RETURNING, and keeps them until the change is known to have succeeded.
// Each number in sequence is that of the connection whose answer has the next row. A nil sequence means the rows of one connection after
// those of another. The errors are those of [Merge], and one for answers that don't match the sequence. Nothing is sent to the client.
func Hold(conns []*backend.Conn, sequence []int, format Format, to *reply.Client, as Options) (*Held, Outcome, error) {
	return hold(sourcesOf(conns), sequence, format, to, as)
}

// Send sends the answer, with the status flags and the number of warnings in addition to the shards' warnings. It sets the
// client's next packet number. The error is a *ClientError.
func (h *Held) Send(status uint16, warnings int) error {
	defer h.out.release()
	h.out.held, h.out.Status, h.out.Warnings = false, status, warnings
	err := h.out.finish(h.warnings)
	h.out.Seq = h.out.seq
	return err
}

// Discard releases the memory of an answer that is not sent.
func (h *Held) Discard() { h.out.release() }

// Count returns, for each connection, how many of the first rows of the merged answers it has, within the limit. The answers
// are texts. Count calls send, which sends the query, for one connection after the other, each time after the first row of the
// previous connection has arrived. After an error Count doesn't call it any more, and [Outcome.Clean] is false for the
// remaining connections. Count writes nothing to the client.
func Count(conns []*backend.Conn, m *plan.Merge, limit plan.Window, as Options, send func(i int) error) (taken []uint64, o Outcome, err error) {
	return count(sourcesOf(conns), m, limit, as, send)
}

func sourcesOf(conns []*backend.Conn) []source {
	sources := make([]source, len(conns))
	for i, c := range conns {
		sources[i] = c
	}
	return sources
}
