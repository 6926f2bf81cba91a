package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"
)

const stateSize = 5 // length of an SQLSTATE, without the '#' before it

// SQLSTATEs of the proxy's own errors. StateLink tells drivers that the connection failed.
const (
	StateGeneral     = mysql.DEFAULT_MYSQL_STATE
	StateInterrupted = "70100"
	StateLink        = "08S01"
)

// Error codes that the library doesn't name.
const (
	ErNetRead   = 1158 // the connection between the proxy and a shard failed
	ErMalformed = 1835 // a command could not be parsed
)

// Errorf makes an error to send to the client.
func Errorf(code uint16, state, format string, args ...any) *mysql.MyError {
	return &mysql.MyError{Code: code, State: state, Message: fmt.Sprintf(format, args...)}
}

// IsERR reports whether a payload is an ERR packet. The server may send one in place of any packet.
func IsERR(payload []byte) bool { return len(payload) > 0 && payload[0] == mysql.ERR_HEADER }

// ParseERR reads an ERR packet, with or without an SQLSTATE.
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

// AppendERR appends an ERR packet. The SQLSTATE is written only for a client known to speak protocol 4.1. An error in place of the
// greeting therefore has none.
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
