package protocol

import (
	"bytes"
	"strconv"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/servers"
	"locus/proxy/wire"
	"locus/test/shop"
)

// Commands and rows around the longest packet, where an empty one must follow.
func TestPacketsOf16MiB(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		const head = "SELECT LENGTH('"
		for name, capabilities := range dialects {
			for what, length := range map[string]int{
				"one less": wire.MaxPayload - 1, "exactly": wire.MaxPayload, "one more": wire.MaxPayload + 1, "twice": 2 * wire.MaxPayload,
			} {
				if p.engine == servers.MariaDB && length >= wire.MaxPayload {
					continue // its max_allowed_packet
				}
				t.Run(name+", "+what, func(t *testing.T) {
					p.both(t, capabilities, func(t *testing.T, c *peer) (said []packet) {
						command := append([]byte{mysql.COM_QUERY}, head...)
						command = append(command, bytes.Repeat([]byte("x"), length-len(command)-len("') AS n"))...)
						said = append(said, c.ask(wire.QueryResponse, append(command, "') AS n"...))...)
						rows := c.ask(wire.QueryResponse, []byte("\x03SELECT REPEAT('y', "+strconv.Itoa(length-4)+") AS y"))
						for _, row := range rows { // 0xfd and three bytes of length precede the text
							said = append(said, packet{row.seq, row.payload[:min(len(row.payload), 200)]})
						}
						return append(said, c.query("SELECT 1")...)
					})
				})
			}
		}
	})
}

// A server that receives a packet above its max_allowed_packet returns an error and reads no further. The
// client gets the same error, and can continue. On MySQL the limit is the proxy's.
func TestPacketsAboveTheServersLimit(t *testing.T) {
	s := shop.Start(t, servers.MariaDB, shop.Options{})
	const limit = 16 << 20
	c := login(t, endpoint{"proxy", s.Addr, shop.User, shop.Password, s.Schema}, classic)
	for _, length := range []int{limit + 1, 2*limit - 300} {
		text := append([]byte("\x03SELECT LENGTH('"), bytes.Repeat([]byte("x"), length)...)
		said := c.ask(wire.QueryResponse, append(text, "')"...))
		if e, err := wire.ParseERR(said[0].payload); err != nil || e.Code != mysql.ER_NET_PACKET_TOO_LARGE {
			t.Errorf("%d bytes: %v, %v", length, e, err)
		}
		c.must("SELECT 1")
	}
}
