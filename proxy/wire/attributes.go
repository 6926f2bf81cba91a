package wire

import (
	"math"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// WithoutAttributes removes the query attributes from a COM_QUERY of a client with CLIENT_QUERY_ATTRIBUTES. It returns the command as
// any other client sends it, built in payload's own memory.
func WithoutAttributes(payload []byte) ([]byte, error) {
	c := cursor{b: payload}
	c.u8()
	count := int(min(c.lenInt(), math.MaxUint16))
	c.lenInt() // the number of value sets that follow, always 1
	if count > 0 {
		nulls := c.take(bitmapSize(count))
		if bound := c.u8(); bound == 0 {
			c.fail() // the client has sent no types before that could apply
		}
		c.skipAttributes(count, nulls)
	}
	if err := c.err("query attributes"); err != nil {
		return nil, err
	}
	plain := payload[len(payload)-len(c.b)-1:]
	plain[0] = mysql.COM_QUERY
	return plain, nil
}

// skipAttributes passes over the types and names of attributes and their values.
func (c *cursor) skipAttributes(count int, nulls []byte) {
	types := *c
	for range count {
		if c.bad {
			return
		}
		c.take(2)
		c.lenBytes()
	}
	for i := range count {
		if c.bad {
			return
		}
		typ := types.u8()
		types.u8()
		types.lenBytes()
		if typ != mysql.MYSQL_TYPE_NULL && !bit(nulls, i) {
			c.value(typ)
		}
	}
}
