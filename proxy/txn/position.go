package txn

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locus/proxy/backend"
	"locus/proxy/flavor"
	"locus/router"
)

// position is the position, in GTIDs, that a shard's primary had after the session last used it. A replica that has reached it has applied
// everything that the session has written.
type position struct {
	shard router.ShardName
	gtids string
	// there is a connection to a server that has reached the position, or nil. Other connections don't count: they may lead to
	// another server, or to a restarted server that may have lost data.
	there *backend.Conn
}

// ownPatience is how long a session waits for a replica. After that, the primary answers.
const ownPatience = 500 * time.Millisecond

// longestPosition limits the size in bytes of the position that a session keeps for a shard. A longer set of GTIDs has many gaps.
const longestPosition = 4 << 10

// forgetPosition drops the position of a shard, because the session may write to it.
func (c *Connections) forgetPosition(shard router.ShardName) {
	c.positions = slices.DeleteFunc(c.positions, func(p position) bool { return p.shard == shard })
}

// positionOf returns the index of the shard's position. It asks the primary if the session has used it since. known is false if the position is
// unknown.
func (c *Connections) positionOf(shard router.ShardName, settings *backend.Settings) (at int, known bool) {
	at = slices.IndexFunc(c.positions, func(p position) bool { return p.shard == shard })
	if at >= 0 {
		return at, true
	}
	gtids, known := c.askPosition(shard, settings)
	if !known {
		return -1, false
	}
	c.positions = append(c.positions, position{shard: shard, gtids: gtids})
	return len(c.positions) - 1, true
}

// askPosition asks the primary of a shard for its position. known is false if it does not answer, or if the position cannot be kept.
func (c *Connections) askPosition(shard router.ShardName, settings *backend.Settings) (gtids string, known bool) {
	pool, ok := c.Pools.Pool(shard)
	if !ok {
		return "", false
	}
	conn, err := c.borrowFrom(pool, Soon, settings)
	if err != nil {
		return "", false
	}
	question := "SELECT @@GLOBAL.gtid_executed"
	if c.client.Flavor() == flavor.MariaDB {
		question = "SELECT @@GLOBAL.gtid_binlog_pos"
	}
	b := branch{Shard: shard, Pool: pool, Conn: conn}
	text, ok := c.valueOf(b, question)
	if !ok {
		return "", false
	}
	c.giveBack(b)
	return strings.ReplaceAll(text, "\n", ""), isPosition(text)
}

// isPosition reports whether a set of GTIDs can be kept. An empty set comes from a server without GTIDs, so it does not show which data the
// server has.
func isPosition(text string) bool {
	return text != "" && len(text) <= longestPosition && !strings.ContainsFunc(text, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-:,\n", r))
	})
}

// waitForPosition waits until the server of a connection has reached a position, and reports whether it has. If it has not in time,
// waitForPosition gives the connection back and drops the position. The next read then asks the primary again, because a new primary may lack
// data of the old one.
func (c *Connections) waitForPosition(b branch, p *position) bool {
	if p.there == b.Conn {
		return true
	}
	function := "WAIT_FOR_EXECUTED_GTID_SET"
	if c.client.Flavor() == flavor.MariaDB {
		function = "MASTER_GTID_WAIT"
	}
	answer, ok := c.valueOf(b, fmt.Sprintf("SELECT %s('%s', %.1f)", function, p.gtids, ownPatience.Seconds()))
	switch {
	case !ok:
		return false
	case answer != reached:
		c.giveBack(b)
		c.forgetPosition(b.Shard)
		return false
	}
	p.there = b.Conn
	return true
}

// reached is the answer of both servers at success. At the end of the wait they answer another number, or NULL.
const reached = "0"

// valueOf asks a server for one value. If ok is false, it has already given the connection back.
func (c *Connections) valueOf(b branch, question string) (answer string, ok bool) {
	rows, err := b.Conn.Own().Query(c.Waits(), question)
	if err != nil {
		c.giveBackAfter(b, err)
		return "", false
	}
	if len(rows.Rows) != 1 {
		return "", true
	}
	return string(rows.Rows[0][0]), true
}
