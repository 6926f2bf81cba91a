package protocol

import (
	"bytes"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
	"locus/test/shop"
)

// A value that the client sends in pieces is forwarded in pieces, because the whole value may exceed the
// shard's max_allowed_packet.
func TestLongData(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		for name, pieces := range map[string]int{"short": 1, "long": 14} {
			t.Run(name, func(t *testing.T) {
				p.both(t, classic, func(_ *testing.T, c *peer) (said []packet) {
					s := c.prepare("SELECT LENGTH(?), ?")
					for range 2 { // the pieces are discarded after an execution
						for range pieces {
							out := wire.AppendLongData(nil, wire.LongData{Statement: s, Piece: bytes.Repeat([]byte("x"), 1_100_000)})
							if _, err := c.stream.Write(out); err != nil {
								t.Fatal(err)
							}
						}
						execute := []byte{mysql.COM_STMT_EXECUTE, byte(s), byte(s >> 8), byte(s >> 16), byte(s >> 24), 0, 1, 0, 0, 0, 0, 1}
						execute = append(execute, mysql.MYSQL_TYPE_BLOB, 0, mysql.MYSQL_TYPE_STRING, 0, 3, 'a', 'b', 'c')
						said = append(said, c.ask(wire.QueryResponse, execute)...)
					}
					return said
				})
			})
		}
	})
}
