package protocol

import (
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
	"locus/test/shop"
)

// All answers contain the status flags of the session's transaction, also those from a connection that takes no
// part in the transaction.
func TestFlagsWithinATransaction(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		for name, capabilities := range dialects {
			t.Run(name, func(t *testing.T) {
				p.both(t, capabilities, func(t *testing.T, c *peer) (said []packet) {
					c.must("CREATE TABLE IF NOT EXISTS flags (id INT, name VARCHAR(20))")
					for _, begins := range []string{"COMMIT", "BEGIN", "START TRANSACTION READ ONLY", "SET autocommit = 0"} {
						c.must("COMMIT", begins)
						for _, text := range []string{"SELECT name FROM flags WHERE id = ?", "SELECT 1"} {
							prepared := c.ask(wire.PrepareResponse, append([]byte{mysql.COM_STMT_PREPARE}, text...))
							clear(prepared[0].payload[1:5]) // its number
							said = append(said, prepared...)
						}
						said = append(said, c.ask(wire.FieldListResponse, append([]byte{mysql.COM_FIELD_LIST}, "flags\x00"...))...)
						said = append(said, c.ask(wire.SimpleResponse, []byte{mysql.COM_PING})...)
						said = append(said, c.query("SELECT 1")...)
						said = append(said, c.query("SELECT 1 FROM flags")...)
						said = append(said, c.ask(wire.SimpleResponse, []byte{mysql.COM_PING})...)
					}
					return said
				})
			})
		}
	})
}
