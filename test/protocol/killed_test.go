package protocol

import (
	"testing"

	"locus/test/shop"
)

// A client that kills its own connection, or its own statement, gets the same answers as from the server.
func TestKillOfOneself(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		for _, text := range []string{"KILL CONNECTION_ID()", "KILL @own"} {
			p.both(t, classic, func(t *testing.T, c *peer) []packet {
				c.must("SET @own = CONNECTION_ID()")
				said := c.query(text)
				c.gone()
				return said
			})
		}
		p.both(t, classic, script("SET @own = CONNECTION_ID()", "KILL QUERY CONNECTION_ID()", "KILL QUERY @own", "SELECT 1"))
	})
}

// IDs that no connection has.
func TestKillOfNobody(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.both(t, classic, script("KILL 1000000000", "KILL @never", "KILL NULL", "KILL '1000000001'", "KILL QUERY 1e9 + 2", "SELECT 1"))
	})
}
