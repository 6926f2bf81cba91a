package wire

import (
	"encoding/binary"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Prepared is the first packet of the answer to COM_STMT_PREPARE. The definitions of the parameters follow it, then those of the
// columns. Without CLIENT_DEPRECATE_EOF, an EOF packet ends each list that isn't empty.
type Prepared struct {
	Statement uint32
	Columns   uint16
	Params    uint16
	Warnings  uint16
}

// ParsePrepared reads the first packet of the answer to COM_STMT_PREPARE.
func ParsePrepared(payload []byte) (Prepared, error) {
	c := cursor{b: payload}
	if c.u8() != mysql.OK_HEADER {
		c.fail()
	}
	p := Prepared{Statement: c.u32(), Columns: c.u16(), Params: c.u16()}
	c.take(1)
	p.Warnings = c.u16()
	return p, c.err("answer to COM_STMT_PREPARE")
}

// AppendPrepared appends the first packet of the answer to COM_STMT_PREPARE.
func AppendPrepared(dst []byte, seq byte, p Prepared) ([]byte, byte) {
	start := len(dst)
	dst = append(Begin(dst), mysql.OK_HEADER)
	dst = binary.LittleEndian.AppendUint32(dst, p.Statement)
	dst = binary.LittleEndian.AppendUint16(dst, p.Columns)
	dst = binary.LittleEndian.AppendUint16(dst, p.Params)
	dst = append(dst, 0)
	dst = binary.LittleEndian.AppendUint16(dst, p.Warnings)
	return Finish(dst, start, seq)
}
