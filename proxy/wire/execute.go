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
	// Types are the two bytes per parameter (type, flags) that hold from now on until the client sends others: views of the packet,
	// or what was passed to ParseExecute. The server remembers them per statement and connection, so must whoever stands between.
	Types  []byte
	Params []Param
}

// Param is the value of a parameter.
type Param struct {
	Type  byte   // mysql.MYSQL_TYPE_…
	Flags byte   // mysql.PARAM_UNSIGNED
	Long  bool   // it was sent by COM_STMT_SEND_LONG_DATA; for AppendExecute, which then leaves it out
	Value []byte // nil is NULL; otherwise the bytes that the type has in the binary protocol, without any length before them
}

// Unsigned says whether an integer is to be read by [Uint] rather than [Int].
func (p Param) Unsigned() bool { return p.Flags&mysql.PARAM_UNSIGNED != 0 }

// Known is what a session remembers of a prepared statement and needs in order to read its COM_STMT_EXECUTE.
type Known struct {
	Params int      // number of parameters
	Types  []byte   // Execute.Types of the last one, nil before the first: clients send them once and then rely on them
	Long   [][]byte // values that came by COM_STMT_SEND_LONG_DATA, by parameter; may be shorter than Params; nil means none came
	// Named is whether CLIENT_QUERY_ATTRIBUTES was agreed on: types come with names, and attributes may stand behind the parameters.
	// Execute.Types is then put together in Room.
	Named bool
	Room  []byte
}

// ParseExecute reads COM_STMT_EXECUTE; payload includes the command. The parameters are appended to params, so that its room can be
// used again. The values are views into payload and known. Query attributes are passed over.
func ParseExecute(payload []byte, known Known, params []Param) (Execute, error) {
	c := cursor{b: payload}
	c.u8()
	e := Execute{Statement: c.u32(), Types: known.Types, Params: params}
	flags := c.u8()
	e.Cursor = flags &^ mysql.PARAMETER_COUNT_AVAILABLE
	c.u32() // the number of iterations, always 1
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
	return e, c.err("COM_STMT_EXECUTE") // the attributes' values are of no use
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
		c.lenBytes() // the name
	}
	return types
}

// param reads the i-th parameter. A value that came as long data isn't in the packet, and counts whatever the NULL bitmap says.
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

// AppendExecute appends COM_STMT_EXECUTE as packets. The types are always sent, so it is right for a connection that has never
// executed the statement; long data are sent as ordinary values. e.Types isn't used.
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
