package link

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Param is the type of one value of a prepared statement, and whether it is unsigned.
type Param struct {
	Type     byte
	Unsigned bool
}

// Prepared is a statement that the server has parsed, for one connection.
// https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_execute.html
type Prepared struct {
	id     uint32
	params int
}

// mostPrepared bounds the statements of a connection. Above it all are closed.
const mostPrepared = 16

// Prepare returns the prepared statement of a text. The server parses it the first time.
func (c *Conn) Prepare(ctx context.Context, sql string) (*Prepared, error) {
	if p := c.prepared[sql]; p != nil {
		return p, nil
	}
	if len(c.prepared) >= mostPrepared {
		if err := c.forget(ctx); err != nil {
			return nil, err
		}
	}
	p := new(Prepared)
	if err := c.guard(ctx, func() error { return c.readPrepared(sql, p) }); err != nil {
		return nil, err
	}
	if c.prepared == nil {
		c.prepared = map[string]*Prepared{}
	}
	c.prepared[sql] = p
	return p, nil
}

// prepareHead is the length of the first packet of the answer, without the definitions.
const prepareHead = 12

func (c *Conn) readPrepared(sql string, p *Prepared) error {
	head, err := c.ask(mysql.COM_STMT_PREPARE, sql)
	switch {
	case err != nil:
		return err
	case len(head) < prepareHead:
		return fmt.Errorf("answer of %d bytes to a statement to be prepared", len(head))
	}
	p.id = binary.LittleEndian.Uint32(head[1:])
	columns, params := int(binary.LittleEndian.Uint16(head[5:])), int(binary.LittleEndian.Uint16(head[7:]))
	p.params = params
	for _, n := range []int{params, columns} {
		for range n + min(n, 1) { // including the packet that ends them
			if _, err := c.c.ReadPacket(); err != nil {
				return err
			}
		}
	}
	return nil
}

// forget closes all prepared statements. Servers don't answer that.
func (c *Conn) forget(ctx context.Context) error {
	for sql, p := range c.prepared {
		err := c.guard(ctx, func() error {
			return c.command(mysql.COM_STMT_CLOSE, binary.LittleEndian.AppendUint32(Begin(nil), p.id))
		})
		if err != nil {
			return err
		}
		delete(c.prepared, sql)
	}
	return nil
}

// Values are the values of one execution while they are being assembled.
type Values struct {
	s     Statement
	nulls int // start of the bitmap
	n     int // number of values so far
}

// Values begins an execution in the memory of buf. params are the types of each group of values.
func (p *Prepared) Values(buf []byte, params []Param) Values {
	s := binary.LittleEndian.AppendUint32(Begin(buf), p.id)
	s = append(s, mysql.CURSOR_TYPE_NO_CURSOR)
	s = binary.LittleEndian.AppendUint32(s, 1) // the iteration count, always 1
	v := Values{nulls: len(s)}
	s = append(s, make([]byte, (p.params+7)/8)...)
	s = append(s, 1) // types follow
	for i := range p.params {
		param := params[i%len(params)]
		unsigned := byte(0)
		if param.Unsigned {
			unsigned = 0x80
		}
		s = append(s, param.Type, unsigned)
	}
	v.s = s
	return v
}

// Null appends NULL.
func (v *Values) Null() {
	v.s[v.nulls+v.n/8] |= 1 << (v.n % 8)
	v.n++
}

// Fixed appends a value of an 8-byte type: an integer, or the bits of a double.
func (v *Values) Fixed(bits uint64) {
	v.s = binary.LittleEndian.AppendUint64(v.s, bits)
	v.n++
}

// Bytes appends a value of a type with a length.
func (v *Values) Bytes(b []byte) {
	v.s = append(mysql.AppendLengthEncodedInteger(v.s, uint64(len(b))), b...)
	v.n++
}

// errValues means that the caller assembled the wrong number of values.
var errValues = errors.New("another number of values than the statement has")

// Execute runs a prepared statement without a result. It also returns the buffer for reuse.
func (c *Conn) Execute(ctx context.Context, p *Prepared, v Values) (Outcome, []byte, error) {
	if v.n != p.params {
		return Outcome{}, v.s, errValues
	}
	o, err := c.run(ctx, mysql.COM_STMT_EXECUTE, v.s)
	return o, v.s, err
}
