package wire

import (
	"encoding/binary"
	"math"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Execute is COM_STMT_EXECUTE.
type Execute struct {
	Statement uint32
	Cursor    byte // mysql.CURSOR_TYPE_…
	// Types holds two bytes per parameter, the type and the flags. They are views of the packet, or the types passed to
	// ParseExecute. They apply to later executions until the client sends new ones. The server remembers them per statement and
	// connection, and a proxy must do the same.
	Types  []byte
	Params []Param
}

// Param is a parameter's value.
type Param struct {
	Type  byte   // mysql.MYSQL_TYPE_…
	Flags byte   // mysql.PARAM_UNSIGNED
	Long  bool   // sent by COM_STMT_SEND_LONG_DATA; AppendExecute leaves it out
	Value []byte // nil for NULL, else the type's binary encoding without a length
}

// Unsigned reports whether an integer is read by [Uint] rather than [Int].
func (p Param) Unsigned() bool { return p.Flags&mysql.PARAM_UNSIGNED != 0 }

// Known is the state of a prepared statement that a session keeps to read its COM_STMT_EXECUTE.
type Known struct {
	Params int      // number of parameters
	Types  []byte   // Execute.Types of the last execution, nil before the first; clients send them only once
	Long   [][]byte // values from COM_STMT_SEND_LONG_DATA by parameter, nil if none came; may be shorter than Params
	// Named reports whether CLIENT_QUERY_ATTRIBUTES was negotiated. Types then come with names, and attributes may follow the
	// parameters. Execute.Types is then built in Room.
	Named bool
	Room  []byte
}

// ParseExecute reads COM_STMT_EXECUTE. payload includes the command. The parameters are appended to params, so its memory can be
// reused. The values are views into payload and known. Query attributes are skipped.
func ParseExecute(payload []byte, known Known, params []Param) (Execute, error) {
	c := cursor{b: payload}
	c.u8()
	e := Execute{Statement: c.u32(), Types: known.Types, Params: params}
	flags := c.u8()
	e.Cursor = flags &^ mysql.PARAMETER_COUNT_AVAILABLE
	c.u32() // the iteration count, always 1
	count := known.Params
	if known.Named && flags&mysql.PARAMETER_COUNT_AVAILABLE != 0 {
		count = int(min(c.lenInt(), math.MaxUint16))
	}
	if count == 0 && known.Params == 0 {
		return e, c.err("COM_STMT_EXECUTE")
	}
	nulls := c.take(bitmapSize(count))
	if bound := c.u8(); bound != 0 {
		e.Types = c.types(count, known)
	}
	if c.bad || count < known.Params {
		return e, malformed("COM_STMT_EXECUTE")
	}
	if len(e.Types) < 2*known.Params {
		return e, malformed("COM_STMT_EXECUTE without the parameters' types, which were never sent")
	}
	e.Types = e.Types[:2*known.Params]
	for i := range known.Params {
		e.Params = append(e.Params, c.param(i, e.Types, nulls, known.Long))
	}
	return e, c.err("COM_STMT_EXECUTE") // the attributes' values aren't needed
}

// types reads the types of parameters and attributes.
func (c *cursor) types(count int, known Known) []byte {
	if !known.Named {
		return c.take(2 * count)
	}
	types := known.Room[:0]
	for range count {
		if c.bad {
			return nil
		}
		types = append(types, c.take(2)...)
		c.lenBytes() // the parameter's name
	}
	return types
}

// param reads the i-th parameter. A value sent as long data isn't in the packet and takes precedence over the NULL bitmap.
func (c *cursor) param(i int, types, nulls []byte, long [][]byte) Param {
	p := Param{Type: types[2*i], Flags: types[2*i+1]}
	switch {
	case i < len(long) && long[i] != nil:
		p.Value = long[i]
		if layout(p.Type) != lenEncoded {
			p.Type = mysql.MYSQL_TYPE_BLOB
		}
	case p.Type == mysql.MYSQL_TYPE_NULL, bit(nulls, i):
	default:
		p.Value = c.value(p.Type)
	}
	return p
}

// AppendExecute appends COM_STMT_EXECUTE as packets. It always sends the types, so it suits a connection that has never executed the
// statement. It leaves out values with Long, and sends other long data as ordinary values. e.Types isn't used.
func AppendExecute(dst []byte, e Execute) ([]byte, byte) {
	start := len(dst)
	dst = append(Begin(dst), mysql.COM_STMT_EXECUTE)
	dst = binary.LittleEndian.AppendUint32(dst, e.Statement)
	dst = append(dst, e.Cursor, 1, 0, 0, 0)
	if len(e.Params) == 0 {
		return Finish(dst, start, 0)
	}
	nulls := len(dst)
	dst = appendZeros(dst, bitmapSize(len(e.Params)))
	dst = append(dst, 1) // types follow
	for i, p := range e.Params {
		if p.Value == nil {
			setBit(dst[nulls:], i)
		}
		dst = append(dst, p.Type, p.Flags)
	}
	for _, p := range e.Params {
		if p.Value != nil && !p.Long {
			dst = appendValue(dst, p.Type, p.Value)
		}
	}
	return Finish(dst, start, 0)
}
