package backend

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
)

// Limits on a result that Query holds in memory.
const (
	maxRows  = 100_000
	maxBytes = 64 << 20
)

// Rows is a small result, held in memory. If character_set_results is a wide character set, names and texts were converted to UTF-8.
type Rows struct {
	Columns []wire.Column
	Rows    [][][]byte // text; nil for NULL
}

// Query runs one of the proxy's own statements with a small result. A statement that answers with OK has no columns and no
// rows. The errors are those of Exec. A result of more than 100,000 rows or 64 MiB ends the connection. The statement counts as
// State, as in Exec.
func (c *Conn) Query(ctx context.Context, sql string) (*Rows, error) {
	c.Note(State)
	return c.query(ctx, sql)
}

func (c *Conn) query(ctx context.Context, sql string) (*Rows, error) {
	rows, err := c.queryEach(ctx, []string{sql})
	if err != nil {
		return nil, err
	}
	return rows[0], nil
}

// sentTogether is the number of bytes of statements that are sent before their answers are read. So many fit into the buffers of any
// socket. With more, the server could wait until its answers are read, and the proxy until its statements are.
const sentTogether = 16 << 10

func (c *Conn) queryEach(ctx context.Context, statements []string) (all []*Rows, err error) {
	defer c.Watch(ctx)()
	var refused error
	for len(all) < len(statements) {
		sent, err := c.sendSome(ctx, statements[len(all):])
		if err != nil {
			return nil, err
		}
		for range sent {
			rows, err := c.readResult(ctx)
			if err != nil && (!c.Usable() || !errors.As(err, new(*mysql.MyError))) {
				return nil, err
			}
			refused = cmp.Or(refused, err)
			all = append(all, rows)
		}
	}
	if refused != nil {
		return nil, refused
	}
	return all, nil
}

// sendSome sends as many of the statements as may be sent together, and at least one. It returns their number.
func (c *Conn) sendSome(ctx context.Context, statements []string) (sent int, err error) {
	packets := c.out[:0]
	for _, sql := range statements {
		if sent > 0 && len(packets)+len(sql) > sentTogether {
			break
		}
		packets = appendText(packets, mysql.COM_QUERY, sql)
		sent++
	}
	return sent, c.send(ctx, packets)
}

// readResult reads the answer to one statement.
func (c *Conn) readResult(ctx context.Context) (*Rows, error) {
	head, err := c.receive(ctx)
	if err != nil {
		return nil, err
	}
	defer c.stream.Done()
	switch {
	case wire.IsERR(head):
		return nil, c.Refusal(head)
	case len(head) > 0 && head[0] == mysql.OK_HEADER:
		return c.noRows(head)
	}
	columns, n := wire.LenInt(head)
	if n != len(head) || columns == 0 || columns > 4096 {
		return nil, c.Lost(true, errUnexpected)
	}
	rows := &Rows{}
	if err := c.readColumns(ctx, rows, int(columns)); err != nil {
		return nil, err
	}
	err = c.readRows(ctx, rows)
	wire.Narrow(rows.Columns, rows.Rows)
	return rows, err
}

func (c *Conn) noRows(head []byte) (*Rows, error) {
	ok, err := wire.ParseOK(head, Capabilities)
	if err != nil || ok.Status&mysql.SERVER_MORE_RESULTS_EXISTS != 0 {
		return nil, c.Lost(true, errUnexpected)
	}
	c.status = ok.Status
	return &Rows{}, nil
}

// readColumns reads the column definitions and the EOF packet after them.
func (c *Conn) readColumns(ctx context.Context, into *Rows, columns int) error {
	for range columns {
		payload, err := c.receive(ctx)
		if err != nil {
			return err
		}
		column, err := c.ParseColumn(bytes.Clone(payload))
		if err != nil {
			return c.Lost(true, err)
		}
		into.Columns = append(into.Columns, column)
	}
	payload, err := c.receive(ctx)
	if err == nil && !wire.IsEOF(payload) {
		return c.Lost(true, errUnexpected)
	}
	return err
}

// ParseColumn reads a column definition from the server. Its form depends on the connection's profile.
func (c *Conn) ParseColumn(payload []byte) (wire.Column, error) {
	if c.profile&ExtendedMetadata != 0 {
		return wire.ParseExtendedColumn(payload)
	}
	return wire.ParseColumn(payload)
}

func (c *Conn) readRows(ctx context.Context, into *Rows) error {
	for size := 0; ; {
		payload, err := c.receive(ctx)
		switch {
		case err != nil:
			return err
		case wire.IsERR(payload):
			return c.Refusal(payload)
		case wire.IsEOF(payload):
			return c.endRows(payload)
		}
		if size += len(payload); len(into.Rows) >= maxRows || size > maxBytes {
			return c.Lost(true, fmt.Errorf("the result has more than %d rows or %d bytes", maxRows, maxBytes))
		}
		row, err := wire.SplitTextRow(make([][]byte, 0, len(into.Columns)), bytes.Clone(payload), len(into.Columns))
		if err != nil {
			return c.Lost(true, err)
		}
		into.Rows = append(into.Rows, row)
	}
}

func (c *Conn) endRows(payload []byte) error {
	end, err := wire.ParseEOF(payload)
	if err != nil || end.Status&mysql.SERVER_MORE_RESULTS_EXISTS != 0 {
		return c.Lost(true, errUnexpected)
	}
	c.status = end.Status
	return nil
}
