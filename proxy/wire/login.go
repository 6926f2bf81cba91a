package wire

import (
	"encoding/binary"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Login is a client's answer to the greeting, or a COM_CHANGE_USER. All slices are views.
type Login struct {
	Capabilities uint32 // the client's capabilities, which may include some that the server has not offered
	Extended     uint32 // MariaDB's own, from a client without CLIENT_LONG_PASSWORD; not in COM_CHANGE_USER
	MaxPacket    uint32 // bytes; not in COM_CHANGE_USER
	Collation    uint16
	User         []byte
	Response     []byte // the answer to the nonce, in Plugin's form
	Database     []byte
	Plugin       []byte // empty without CLIENT_PLUGIN_AUTH
	Attributes   []byte // read them with NextAttribute
}

// tlsRequestSize is the length of an answer to the greeting that ends before the user's name. The rest follows over TLS.
const tlsRequestSize = 32

// IsTLSRequest reports whether the answer to the greeting requests TLS.
func IsTLSRequest(payload []byte) bool {
	return len(payload) == tlsRequestSize && binary.LittleEndian.Uint32(payload)&mysql.CLIENT_SSL != 0
}

// ParseLogin reads a client's answer to the greeting. It supports only protocol 4.1.
func ParseLogin(payload []byte) (Login, error) {
	c := cursor{b: payload}
	l := Login{Capabilities: c.u32(), MaxPacket: c.u32(), Collation: uint16(c.u8())}
	if l.Capabilities&mysql.CLIENT_PROTOCOL_41 == 0 {
		c.fail()
	}
	reserved := cursor{b: c.take(23)}
	reserved.take(19)
	if l.Capabilities&mysql.CLIENT_LONG_PASSWORD == 0 {
		l.Extended = reserved.u32()
	}
	l.User = c.nulBytes()
	if l.Capabilities&mysql.CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA != 0 {
		l.Response = c.lenBytes()
	} else {
		l.Response = c.response(l.Capabilities)
	}
	if l.Capabilities&mysql.CLIENT_CONNECT_WITH_DB != 0 {
		l.Database = c.name()
	}
	c.tail(&l)
	return l, c.err("handshake response")
}

// ParseChangeUser reads COM_CHANGE_USER. payload includes the command. capabilities are the capabilities of the client's
// login.
func ParseChangeUser(payload []byte, capabilities uint32) (Login, error) {
	c := cursor{b: payload}
	c.u8()
	l := Login{Capabilities: capabilities}
	l.User = c.nulBytes()
	l.Response = c.response(capabilities)
	l.Database = c.name()
	if len(c.b) > 0 {
		l.Collation = c.u16()
	}
	c.tail(&l)
	return l, c.err("COM_CHANGE_USER")
}

// response reads the answer to the nonce if its length isn't a length-encoded integer.
func (c *cursor) response(capabilities uint32) []byte {
	if capabilities&mysql.CLIENT_SECURE_CONNECTION != 0 {
		return c.take(int(c.u8()))
	}
	return c.nulBytes()
}

// tail reads the parts that may be missing at the end.
func (c *cursor) tail(l *Login) {
	if l.Capabilities&mysql.CLIENT_PLUGIN_AUTH != 0 {
		l.Plugin = c.name()
	}
	if l.Capabilities&mysql.CLIENT_CONNECT_ATTRS != 0 && len(c.b) > 0 {
		l.Attributes = c.lenBytes()
	}
}

// name reads a string that ends at a NUL or at the end of the packet. Some clients omit the last NUL, or the last string.
func (c *cursor) name() []byte {
	for i, b := range c.b {
		if b == 0 {
			v := c.take(i)
			c.b = c.b[1:]
			return v
		}
	}
	return c.rest()
}

// NextAttribute reads a login's first connection attribute and returns the attributes after it.
func NextAttribute(attributes []byte) (name, value, rest []byte, err error) {
	c := cursor{b: attributes}
	name, value = c.lenBytes(), c.lenBytes()
	return name, value, c.b, c.err("connection attributes")
}
