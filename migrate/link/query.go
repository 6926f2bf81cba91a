package link

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Room is the number of bytes that a [Statement] keeps free at its start.
const Room = 5

// Statement is SQL with Room bytes in front for the packet's header, so that a large one is sent without copying.
// Sending overwrites it.
type Statement []byte

// Begin returns an empty statement in the memory of buf.
func Begin(buf []byte) Statement {
	return append(buf[:0], make([]byte, Room)...)
}

// Empty reports whether nothing was appended yet.
func (s Statement) Empty() bool { return len(s) <= Room }

func text(sql string) Statement { return append(Begin(make([]byte, 0, Room+len(sql))), sql...) }

// Outcome is the content of an OK packet.
type Outcome struct {
	Affected uint64
	Warnings uint16
}

// Exec runs a statement without a result.
func (c *Conn) Exec(ctx context.Context, sql string) (Outcome, error) {
	return c.Send(ctx, text(sql))
}

// Send is Exec for a statement that may be large.
func (c *Conn) Send(ctx context.Context, s Statement) (Outcome, error) {
	return c.run(ctx, mysql.COM_QUERY, s)
}

// run sends a command that is answered by OK or an error.
func (c *Conn) run(ctx context.Context, command byte, s Statement) (o Outcome, err error) {
	err = c.guard(ctx, func() error {
		if err := c.command(command, s); err != nil {
			return err
		}
		o, err = c.readOK()
		return err
	})
	return o, err
}

// command sends a command, and then reads the answer to the statement that was posted before it.
func (c *Conn) command(command byte, s Statement) error {
	if err := c.write(command, s); err != nil || c.posted == nil {
		return err
	}
	sent := c.c.Sequence
	if err := c.readPosted(); err != nil {
		return err
	}
	c.c.Sequence = sent
	return nil
}

func (c *Conn) write(command byte, s Statement) error {
	c.c.ResetSequence()
	s[Room-1] = command
	return c.c.WritePacket(s)
}

// ask sends a command with a text and returns the first packet of the answer, or the server's error.
func (c *Conn) ask(command byte, sql string) (head []byte, err error) {
	if err := c.command(command, text(sql)); err != nil {
		return nil, err
	}
	if head, err = c.c.ReadPacket(); err == nil && head[0] == mysql.ERR_HEADER {
		err = c.c.HandleErrorPacket(head)
	}
	return head, err
}

func (c *Conn) readOK() (Outcome, error) {
	r, err := c.c.ReadOKPacket()
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{r.AffectedRows, r.Warnings}, nil
}

// Query returns all rows of a small result. nil is NULL.
func (c *Conn) Query(ctx context.Context, sql string) (rows [][][]byte, err error) {
	err = c.Each(ctx, sql, func(row [][]byte) error {
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

// ErrEnough ends a result early. If much of the result is left, that breaks the connection, which is cheaper than
// reading the rest.
var ErrEnough = errors.New("enough rows")

// Each calls take with the rows of a result as they arrive. take may keep a row. The row's values share one piece of
// memory and are nil for NULL. An error of take ends the result and breaks the connection.
func (c *Conn) Each(ctx context.Context, sql string, take func(row [][]byte) error) error {
	return c.guard(ctx, func() error {
		head, err := c.ask(mysql.COM_QUERY, sql)
		if err != nil {
			return err
		}
		width, err := c.readColumns(head)
		if err != nil || width == 0 {
			return err
		}
		return c.readRows(width, take)
	})
}

// readColumns skips the column definitions and returns their number. 0 means a statement without a result.
func (c *Conn) readColumns(head []byte) (int, error) {
	switch head[0] {
	case mysql.OK_HEADER:
		return 0, nil
	case localInfile: // were it taken for a width, the server would take the next statement for the file
		return 0, errors.New("the server asks for a file")
	}
	width, _, _ := mysql.LengthEncodedInt(head)
	for range width + 1 { // including the packet that ends them
		if _, err := c.c.ReadPacket(); err != nil {
			return 0, err
		}
	}
	return int(width), nil
}

func (c *Conn) readRows(width int, take func([][]byte) error) error {
	for {
		p, err := c.c.ReadPacket()
		switch {
		case err != nil:
			return err
		case p[0] == mysql.ERR_HEADER:
			return c.c.HandleErrorPacket(p)
		case p[0] == mysql.EOF_HEADER && len(p) < 9:
			return nil
		}
		row, err := split(p, width)
		if err != nil {
			return err
		}
		if err := take(row); err != nil {
			return err
		}
	}
}

func split(p []byte, width int) ([][]byte, error) {
	row := make([][]byte, width)
	at := 0
	for i := range row {
		v, isNull, n, err := mysql.LengthEncodedString(p[at:])
		if err != nil {
			return nil, fmt.Errorf("column %d of a row: %w", i+1, err)
		}
		if !isNull {
			row[i] = v[:len(v):len(v)]
			if row[i] == nil {
				row[i] = []byte{}
			}
		}
		at += n
	}
	return row, nil
}
