package scatter

import (
	"errors"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/stream"
	"locus/proxy/wire"
	"locus/router"
)

// source is the part of a shard's connection that reading its answer needs. It is a *backend.Conn.
type source interface {
	Stream() *stream.Conn
	Shard() router.ShardName
	// Refusal reads an ERR packet. It returns a *backend.LostError if the error ends the connection.
	Refusal(payload []byte) error
	// ParseColumn reads a column definition in the form that the connection negotiated.
	ParseColumn(payload []byte) (wire.Column, error)
	// Lost marks the connection as unusable and returns the error to report.
	Lost(sent bool, cause error) *backend.LostError
}

// answer is one shard's answer, read row by row.
type answer struct {
	from    source
	stream  *stream.Conn
	columns []column

	row    []byte // payload of the current row, a view of the stream's buffer
	values [][]byte
	end    int // end of the visible values in a text row
	keys   []key

	index    int
	tell     func(i int, code uint16) // called at its end; may be nil
	ended    bool                     // the final packet was read
	lost     bool
	warnings uint16
	status   uint16
}

// column is the needed part of a column's definition.
type column struct {
	typ      byte
	flags    uint16
	charset  uint16
	decimals byte
}

func (c column) unsigned() bool { return c.flags&mysql.UNSIGNED_FLAG != 0 }

var errShape = errors.New("the answer to a query is no result set")

func (a *answer) fail(cause error) error {
	a.row, a.lost = nil, true
	return a.from.Lost(true, cause)
}

// payload reads the next payload. The view is valid until the next call. An ERR packet ends the answer.
func (a *answer) payload() ([]byte, error) {
	a.stream.Done()
	payload, _, err := a.stream.Payload()
	if err != nil {
		return nil, a.fail(err)
	}
	if !wire.IsERR(payload) {
		return payload, nil
	}
	err = a.from.Refusal(payload)
	refused, ok := errors.AsType[*backend.ServerError](err)
	if !ok {
		a.row, a.lost = nil, true
		return nil, err
	}
	a.finish(refused.Code)
	return nil, refused
}

func (a *answer) finish(code uint16) {
	a.stream.Done()
	a.row, a.ended = nil, true
	if a.tell != nil {
		a.tell(a.index, code)
	}
}

// head reads the column definitions and calls show with the payload of each.
func (a *answer) head(show func(definition []byte)) error {
	payload, err := a.payload()
	if err != nil {
		return err
	}
	n, size := wire.LenInt(payload)
	if n == 0 || size != len(payload) {
		return a.fail(errShape)
	}
	for range n {
		if payload, err = a.payload(); err != nil {
			return err
		}
		c, err := a.from.ParseColumn(payload)
		if err != nil {
			return a.fail(err)
		}
		a.columns = append(a.columns, column{c.Type, c.Flags, c.Charset, c.Decimals})
		show(payload)
	}
	if payload, err = a.payload(); err != nil {
		return err
	}
	if !wire.IsEOF(payload) {
		return a.fail(errShape)
	}
	return nil
}

// next advances to the next row, and sets ended after the last one. Its error is the shard's own error, which also ends
// the answer, or a *backend.LostError.
func (a *answer) next() error {
	payload, err := a.payload()
	if err != nil {
		return err
	}
	if !wire.IsEOF(payload) {
		a.row = payload
		return nil
	}
	eof, err := wire.ParseEOF(payload)
	if err != nil {
		return a.fail(err)
	}
	a.warnings, a.status = eof.Warnings, eof.Status
	a.finish(0)
	if eof.Status&mysql.SERVER_MORE_RESULTS_EXISTS != 0 {
		return a.fail(errShape)
	}
	return nil
}

// drainBudget is how many bytes of an unwanted answer are read to keep its connection.
const drainBudget = 64 << 10

// drain reads to the end of an answer if budget bytes suffice.
func (a *answer) drain(budget int) error {
	for !a.ended && !a.lost {
		if budget -= len(a.row); budget < 0 {
			return nil
		}
		if err := a.next(); err != nil {
			return err
		}
	}
	return nil
}

// split finds the values of the current row. The client gets the first visible ones.
func (a *answer) split(format Format, types []byte, visible int) error {
	var err error
	if format == Binary {
		if a.values, err = wire.SplitBinaryRow(a.values[:0], a.row, types); err != nil {
			return a.fail(err)
		}
		return nil
	}
	a.values = a.values[:0]
	rest := a.row
	for i := range types {
		v, n := wire.LenBytes(rest)
		if n == 0 {
			return a.fail(fmt.Errorf("text row: %w", wire.ErrMalformed))
		}
		a.values, rest = append(a.values, v), rest[n:]
		if i == visible-1 {
			a.end = len(a.row) - len(rest)
		}
	}
	if len(rest) > 0 {
		return a.fail(fmt.Errorf("text row: %w", wire.ErrMalformed))
	}
	return nil
}
