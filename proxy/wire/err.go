package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"
)

const stateSize = 5 // of an SQLSTATE, without the '#' before it

// SQLSTATEs of the proxy's own errors. StateLink tells drivers that a link failed.
const (
	StateGeneral     = mysql.DEFAULT_MYSQL_STATE
	StateInterrupted = "70100"
	StateLink        = "08S01"
)

// Numbers of errors that the library has no name for.
const (
	ErNetRead   = 1158 // between the proxy and a shard
	ErMalformed = 1835 // a command that can't be read
)

// Errorf makes an error as the client reads it.
func Errorf(code uint16, state, format string, args ...any) *mysql.MyError {
	return &mysql.MyError{Code: code, State: state, Message: fmt.Sprintf(format, args...)}
}

// IsERR says whether a payload is an ERR packet; that may stand wherever the server speaks.
func IsERR(payload []byte) bool { return len(payload) > 0 && payload[0] == mysql.ERR_HEADER }

// ParseERR reads an ERR packet, with or without SQLSTATE.
func ParseERR(payload []byte) (*mysql.MyError, error) {
	c := cursor{b: payload}
	if c.u8() != mysql.ERR_HEADER {
		c.fail()
	}
	e := &mysql.MyError{Code: c.u16(), State: mysql.DEFAULT_MYSQL_STATE}
	if len(c.b) > stateSize && c.b[0] == '#' {
		e.State = string(c.take(1 + stateSize)[1:])
	}
	e.Message = string(c.rest())
	if err := c.err("ERR packet"); err != nil {
		return nil, err
	}
	return e, nil
}

// AppendERR appends an ERR packet. The SQLSTATE is written only for a client known to speak protocol 4.1: an error in place of the
// greeting has none.
func AppendERR(dst []byte, seq byte, e *mysql.MyError, capabilities uint32) ([]byte, byte) {
	start := len(dst)
	dst = append(Begin(dst), mysql.ERR_HEADER)
	dst = binary.LittleEndian.AppendUint16(dst, e.Code)
	if capabilities&mysql.CLIENT_PROTOCOL_41 != 0 {
		state := e.State
		if len(state) != stateSize {
			state = mysql.DEFAULT_MYSQL_STATE
		}
		dst = append(append(dst, '#'), state...)
	}
	dst = append(dst, e.Message...)
	return Finish(dst, start, seq)
}
