package wire

import "github.com/go-mysql-org/go-mysql/mysql"

// Change is one session change that an OK packet reports under CLIENT_SESSION_TRACK.
type Change struct {
	Kind byte   // mysql.SESSION_TRACK_…
	Data []byte // encoded as Kind requires
}

// NextChange reads the first change of an OK packet's Changes and returns the bytes after it.
func NextChange(changes []byte) (change Change, rest []byte, err error) {
	c := cursor{b: changes}
	change = Change{Kind: c.u8(), Data: c.lenBytes()}
	return change, c.b, c.err("session change")
}

// Variable reads a SESSION_TRACK_SYSTEM_VARIABLES change.
func (c Change) Variable() (name, value []byte, err error) {
	in := cursor{b: c.Data}
	name, value = in.lenBytes(), in.lenBytes()
	return name, value, in.err("change of a system variable")
}

// Text reads a change that is a single string: SESSION_TRACK_SCHEMA, _STATE_CHANGE, _TRANSACTION_CHARACTERISTICS,
// _TRANSACTION_STATE.
func (c Change) Text() ([]byte, error) {
	if c.Kind == mysql.SESSION_TRACK_STATE_CHANGE {
		return c.Data, nil // the string has no length prefix
	}
	in := cursor{b: c.Data}
	text := in.lenBytes()
	return text, in.err("session change")
}

// AppendVariableChange appends the change of a system variable to an OK packet's Changes.
func AppendVariableChange(dst, name, value []byte) []byte {
	dst = append(dst, mysql.SESSION_TRACK_SYSTEM_VARIABLES)
	dst = AppendLenInt(dst, uint64(lenBytesSize(name)+lenBytesSize(value)))
	return AppendLenBytes(AppendLenBytes(dst, name), value)
}

// AppendTextChange appends a change that is one string, such as SESSION_TRACK_SCHEMA, to an OK packet's Changes.
func AppendTextChange(dst []byte, kind byte, text []byte) []byte {
	if kind == mysql.SESSION_TRACK_STATE_CHANGE {
		return AppendLenBytes(append(dst, kind), text)
	}
	dst = AppendLenInt(append(dst, kind), uint64(lenBytesSize(text)))
	return AppendLenBytes(dst, text)
}

// lenBytesSize is the number of bytes that AppendLenBytes appends.
func lenBytesSize(v []byte) int {
	switch n := len(v); {
	case n < null:
		return 1 + n
	case n <= 0xffff:
		return 3 + n
	case n <= 0xffffff:
		return 4 + n
	default:
		return 9 + n
	}
}
