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

// position is how far a shard's primary was, in GTIDs, when it was asked after the session had used it last: a replica that
// has come as far has all that the session has written.
type position struct {
	shard router.ShardName
	gtids string
	// there is a connection to a server that has come as far. Another server has another one, and so has one that was
	// restarted, which may have lost what it had.
	there *backend.Conn
}

// ownPatience is how long a replica is waited for. Then the primary is read.
const ownPatience = 500 * time.Millisecond

// longestPosition bounds what a session keeps of a shard. A set of GTIDs that is longer is one of many gaps.
const longestPosition = 4 << 10

// leave notes that the session may write to a shard.
func (c *Connections) leave(shard router.ShardName) {
	c.positions = slices.DeleteFunc(c.positions, func(p position) bool { return p.shard == shard })
}

// positionOf finds the shard's position, by asking its primary if the session has used it since; false: it isn't known.
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

// isPosition tells a set of GTIDs that is kept. An empty one is of a server that counts none: it says nothing of what it has.
func isPosition(text string) bool {
	return text != "" && len(text) <= longestPosition && !strings.ContainsFunc(text, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-:,\n", r))
	})
}

// reaches waits until the server of a connection has a position. If it doesn't in time, the connection is given back, and the
// primary is asked again next time: it may be another one, without all that the former had.
func (c *Connections) reaches(b branch, p *position) bool {
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
		c.leave(b.Shard)
		return false
	}
	p.there = b.Conn
	return true
}

// reached is what both servers answer; at the end of the wait it is another number, or NULL.
const reached = "0"

// valueOf asks a server for one value. Without an answer the connection is not the caller's any more.
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
