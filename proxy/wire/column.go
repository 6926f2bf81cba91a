package wire

import "encoding/binary"

// fixedColumnSize is the size of the fixed fields after a column definition's strings, including two bytes of padding.
const fixedColumnSize = 0x0c

// Column is a column definition (protocol 4.1). It describes a column of a result set or of COM_FIELD_LIST, or a parameter
// of a prepared statement.
type Column struct {
	Schema   []byte
	Table    []byte // alias
	OrgTable []byte
	Name     []byte // alias
	OrgName  []byte
	Charset  uint16 // collation ID
	Length   uint32 // longest value, in bytes
	Type     byte   // mysql.MYSQL_TYPE_…
	Flags    uint16 // mysql.…_FLAG
	Decimals byte
	Default  []byte // set only in COM_FIELD_LIST; nil for NULL
	// Extended is MariaDB's further description of the type ("json", "uuid"), sent with ExtendedMetadata. It is nil without.
	Extended []byte
}

// ParseColumn reads a column definition. Its strings are views into payload.
func ParseColumn(payload []byte) (Column, error) {
	c := cursor{b: payload}
	return c.column(c.columnNames())
}

// ParseExtendedColumn is ParseColumn for a connection that negotiated ExtendedMetadata.
func ParseExtendedColumn(payload []byte) (Column, error) {
	c := cursor{b: payload}
	col := c.columnNames()
	col.Extended = c.lenBytes()
	return c.column(col)
}

func (c *cursor) columnNames() Column {
	c.lenBytes() // the catalogue, always "def"
	return Column{Schema: c.lenBytes(), Table: c.lenBytes(), OrgTable: c.lenBytes(), Name: c.lenBytes(), OrgName: c.lenBytes()}
}

// column reads the fields after the strings.
func (c *cursor) column(col Column) (Column, error) {
	fixed := cursor{b: c.lenBytes()}
	col.Charset = fixed.u16()
	col.Length = fixed.u32()
	col.Type = fixed.u8()
	col.Flags = fixed.u16()
	col.Decimals = fixed.u8()
	if len(c.b) > 0 {
		col.Default = c.nullable()
	}
	if fixed.bad {
		c.fail()
	}
	return col, c.err("column definition")
}

// AppendColumn appends a column definition as one packet. Default and Extended are written only if they aren't nil.
func AppendColumn(dst []byte, seq byte, col Column) ([]byte, byte) {
	start := len(dst)
	dst = append(Begin(dst), "\x03def"...)
	dst = AppendLenBytes(dst, col.Schema)
	dst = AppendLenBytes(dst, col.Table)
	dst = AppendLenBytes(dst, col.OrgTable)
	dst = AppendLenBytes(dst, col.Name)
	dst = AppendLenBytes(dst, col.OrgName)
	if col.Extended != nil {
		dst = AppendLenBytes(dst, col.Extended)
	}
	dst = append(dst, fixedColumnSize)
	dst = binary.LittleEndian.AppendUint16(dst, col.Charset)
	dst = binary.LittleEndian.AppendUint32(dst, col.Length)
	dst = append(dst, col.Type)
	dst = binary.LittleEndian.AppendUint16(dst, col.Flags)
	dst = append(dst, col.Decimals, 0, 0)
	if col.Default != nil {
		dst = AppendLenBytes(dst, col.Default)
	}
	return Finish(dst, start, seq)
}

// AppendColumnCount appends the packet that opens a result set.
func AppendColumnCount(dst []byte, seq byte, columns int) ([]byte, byte) {
	start := len(dst)
	dst = AppendLenInt(Begin(dst), uint64(columns))
	return Finish(dst, start, seq)
}
