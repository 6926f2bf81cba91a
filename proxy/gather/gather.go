package gather

import (
	"context"
	"errors"
	"fmt"

	"locus/proxy/backend"
	"locus/proxy/wire"
)

// Limits contains the rows and bytes that may still be gathered for one statement.
type Limits struct{ Rows, Bytes int64 }

// LimitError means that a statement would gather more than its limits.
type LimitError struct{ What string }

func (e *LimitError) Error() string { return "more than " + e.What + " would be gathered" }

// batch is the length in bytes at which an INSERT is sent.
const batch = 256 << 10

// Table is a temporary table into which rows are gathered.
type Table struct {
	Conn    *backend.Conn
	Name    string // as SQL
	Columns []Column
	Left    *Limits
}

// Answer is the result of reading a shard's answer into the table.
type Answer struct {
	Status   uint16
	Warnings uint16
	// Clean reports whether the answer was read to its end.
	Clean bool
}

// Fill reads the answer to a query of the columns and inserts its rows. Its errors are those of either connection, *LimitError, and errors about
// values that can't be written. After an error it reads up to drain bytes to reach the end of the answer.
func (t *Table) Fill(ctx context.Context, from *backend.Conn, drain int) (Answer, error) {
	defer from.Watch(ctx)()
	r := &reading{t: t, from: from}
	err := r.head()
	for err == nil && !r.ended {
		err = r.row(ctx)
	}
	if err == nil {
		err = r.insert(ctx)
	}
	for err != nil && r.begun && !r.ended && !r.lost && drain > 0 {
		payload, next := r.payload()
		if next != nil {
			break
		}
		drain -= len(payload)
		if wire.IsEOF(payload) {
			r.end(payload)
		}
	}
	r.answer.Clean = r.ended && !r.lost
	return r.answer, err
}

// reading is an answer that is being read.
type reading struct {
	t      *Table
	from   *backend.Conn
	out    []byte
	values [][]byte
	rows   int
	warned int // rows with an expected warning
	answer Answer
	begun  bool
	ended  bool
	lost   bool
}

var errShape = errors.New("the answer to a query is no result set of its columns")

func (r *reading) fail(cause error) error {
	r.lost = true
	return r.from.Lost(true, cause)
}

// payload returns the next packet of the answer. After a server's error the answer has ended, or the connection is lost.
func (r *reading) payload() ([]byte, error) {
	stream := r.from.Stream()
	stream.Done()
	payload, _, err := stream.Payload()
	if err != nil {
		return nil, r.fail(err)
	}
	r.begun = true
	if !wire.IsERR(payload) {
		return payload, nil
	}
	err = r.from.Refusal(payload)
	_, r.lost = errors.AsType[*backend.LostError](err)
	r.ended = !r.lost
	stream.Done()
	return nil, err
}

// head reads the definitions of the columns, and checks their number.
func (r *reading) head() error {
	payload, err := r.payload()
	if err != nil {
		return err
	}
	if n, size := wire.LenInt(payload); int(n) != len(r.t.Columns) || size != len(payload) {
		return r.fail(errShape)
	}
	for range len(r.t.Columns) {
		if _, err := r.payload(); err != nil {
			return err
		}
	}
	if payload, err = r.payload(); err != nil {
		return err
	}
	if !wire.IsEOF(payload) {
		return r.fail(errShape)
	}
	return nil
}

func (r *reading) end(payload []byte) {
	r.ended = true
	if eof, err := wire.ParseEOF(payload); err == nil {
		r.answer.Status, r.answer.Warnings = eof.Status, eof.Warnings
	}
	r.from.Stream().Done()
}

// row reads a row, checks the limits, and sends an INSERT when enough rows are written.
func (r *reading) row(ctx context.Context) error {
	payload, err := r.payload()
	if err != nil {
		return err
	}
	if wire.IsEOF(payload) {
		r.end(payload)
		return nil
	}
	left := r.t.Left
	if left.Rows--; left.Rows < 0 {
		return &LimitError{"the rows that a statement may gather"}
	}
	if left.Bytes -= int64(len(payload)); left.Bytes < 0 {
		return &LimitError{"the bytes that a statement may gather"}
	}
	if r.values, err = wire.SplitTextRow(r.values[:0], payload, len(r.t.Columns)); err != nil {
		return r.fail(err)
	}
	if err := r.write(); err != nil {
		return err
	}
	if len(r.out) < batch {
		return nil
	}
	return r.insert(ctx)
}

// write adds the row in values to the INSERT.
func (r *reading) write() error {
	if len(r.out) == 0 {
		r.out = append(append(r.out, "INSERT INTO "...), r.t.Name...)
		r.out = append(r.out, " VALUES ("...)
	} else {
		r.out = append(r.out, ", ("...)
	}
	warns := false
	for i, v := range r.values {
		if i > 0 {
			r.out = append(r.out, ',')
		}
		var w bool
		var err error
		if r.out, w, err = r.t.Columns[i].append(r.out, v); err != nil {
			return fmt.Errorf("column %s: %w", r.t.Columns[i].Name, err)
		}
		warns = warns || w
	}
	r.out = append(r.out, ')')
	r.rows++
	if warns {
		r.warned++
	}
	return nil
}

// insert sends the written rows. An unexpected warning would mean that a value was changed.
func (r *reading) insert(ctx context.Context) error {
	if r.rows == 0 {
		return nil
	}
	ok, err := r.t.Conn.Own().Exec(ctx, string(r.out))
	if err == nil && (int(ok.AffectedRows) != r.rows || ok.Warnings > 0 && r.warned == 0) {
		err = fmt.Errorf("%d of %d rows were written to %s, with %d warnings: %w", ok.AffectedRows, r.rows, r.t.Name, ok.Warnings, errChanged)
	}
	r.out, r.rows, r.warned = r.out[:0], 0, 0
	return err
}

var errChanged = errors.New("rows would not be what they were")
