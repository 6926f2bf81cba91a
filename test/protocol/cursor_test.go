package protocol

import (
	"fmt"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/servers"
	"locus/proxy/wire"
	"locus/test/shop"
)

// prepare prepares a statement and returns its ID.
func (p *peer) prepare(text string) uint32 {
	p.t.Helper()
	answer := p.ask(wire.PrepareResponse, append([]byte{mysql.COM_STMT_PREPARE}, text...))
	head, err := wire.ParsePrepared(answer[0].payload)
	if err != nil {
		p.t.Fatalf("%s: %s: %v", p.at.name, text, answer)
	}
	return head.Statement
}

// open executes a statement with a cursor.
func (p *peer) open(statement uint32) []packet {
	p.t.Helper()
	execute, _ := wire.AppendExecute(nil, wire.Execute{Statement: statement, Cursor: mysql.CURSOR_TYPE_READ_ONLY})
	return p.ask(wire.CursorResponse, execute[wire.HeaderSize:])
}

func (p *peer) fetch(statement, rows uint32) []packet {
	p.t.Helper()
	return p.ask(wire.RowsResponse, wire.AppendFetch(nil, wire.Fetch{Statement: statement, Rows: rows})[wire.HeaderSize:])
}

// withoutNumbers removes the IDs of statements from errors.
func withoutNumbers(said []packet) []packet {
	for i, p := range said {
		if e, err := wire.ParseERR(p.payload); err == nil {
			said[i].payload = fmt.Append([]byte{mysql.ERR_HEADER}, e.Code, e.State)
		}
	}
	return said
}

func TestCursors(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		fill := login(t, p.proxy, classic)
		fill.must("DROP TABLE IF EXISTS rolled", "CREATE TABLE rolled (id INT PRIMARY KEY, name VARCHAR(20))",
			"INSERT INTO rolled VALUES (1,'a'), (2,'b'), (3,'c'), (4,'d'), (5,'e'), (6,'f'), (7,'g')")
		for name, capabilities := range dialects {
			for script, talk := range map[string]func(c *peer) []packet{
				"to the end": func(c *peer) (said []packet) {
					s := c.prepare("SELECT * FROM rolled ORDER BY id")
					said = append(said, c.open(s)...)
					for range 4 {
						said = append(said, c.fetch(s, 3)...)
					}
					return said
				},
				"empty": func(c *peer) []packet {
					s := c.prepare("SELECT * FROM rolled WHERE id > 100")
					return append(c.open(s), c.fetch(s, 1)...)
				},
				"exactly": func(c *peer) []packet {
					s := c.prepare("SELECT * FROM rolled WHERE id < 4")
					return append(append(c.open(s), c.fetch(s, 3)...), c.fetch(s, 3)...)
				},
				"reset, executed again and without": func(c *peer) (said []packet) {
					s := c.prepare("SELECT id FROM rolled ORDER BY id")
					said = append(append(said, c.open(s)...), c.fetch(s, 2)...)
					said = append(said, c.ask(wire.SimpleResponse, []byte{mysql.COM_STMT_RESET, byte(s), byte(s >> 8), byte(s >> 16), byte(s >> 24)})...)
					said = append(said, c.fetch(s, 2)...)
					said = append(append(said, c.open(s)...), c.fetch(s, 2)...)
					said = append(append(said, c.open(s)...), c.fetch(s, 1)...)
					if p.engine == servers.MySQL {
						return said // the server forgets the rows of an execution without a cursor after one with a cursor
					}
					execute, _ := wire.AppendExecute(nil, wire.Execute{Statement: s})
					said = append(said, c.ask(wire.QueryResponse, execute[wire.HeaderSize:])...)
					return append(said, c.fetch(s, 1)...)
				},
				"two of the same text, and others between": func(c *peer) (said []packet) {
					one, two := c.prepare("SELECT * FROM rolled ORDER BY id"), c.prepare("SELECT * FROM rolled ORDER BY id")
					said = append(append(said, c.open(one)...), c.open(two)...)
					for i := range uint32(3) {
						said = append(said, c.fetch(one, 1+i)...)
						said = append(said, c.query("SELECT COUNT(*) FROM rolled")...)
						said = append(said, c.fetch(two, 2)...)
					}
					return said
				},
				"in a transaction and beyond": func(c *peer) (said []packet) {
					c.must("BEGIN")
					s := c.prepare("SELECT * FROM rolled ORDER BY id")
					said = append(append(said, c.open(s)...), c.fetch(s, 2)...)
					said = append(said, c.query("UPDATE rolled SET name = 'x' WHERE id = 7")...)
					said = append(said, c.fetch(s, 2)...)
					said = append(said, c.query("ROLLBACK")...)
					said = append(said, c.query("SELECT name FROM rolled WHERE id = 7")...)
					return append(said, c.fetch(s, 10)...)
				},
				"before a transaction and in it": func(c *peer) (said []packet) {
					s := c.prepare("SELECT * FROM rolled ORDER BY id")
					said = append(said, c.open(s)...)
					for _, begins := range []string{"BEGIN", "COMMIT", "START TRANSACTION READ ONLY", "SET autocommit = 0"} {
						said = append(append(said, c.query(begins)...), c.fetch(s, 1)...)
						said = append(append(said, c.query("SELECT COUNT(*) FROM rolled")...), c.fetch(s, 1)...)
					}
					return said
				},
				"no result": func(c *peer) []packet {
					return append(c.open(c.prepare("UPDATE rolled SET name = name WHERE id = 1")), c.query("SELECT 1")...)
				},
				"no cursor": func(c *peer) []packet {
					s := c.prepare("SELECT 1")
					return append(c.fetch(s, 1), c.query("SELECT 1")...)
				},
				"after COM_RESET_CONNECTION": func(c *peer) []packet {
					s := c.prepare("SELECT * FROM rolled")
					c.open(s)
					c.ask(wire.SimpleResponse, []byte{mysql.COM_RESET_CONNECTION})
					return append(c.fetch(s, 1), c.query("SELECT 1")...)
				},
			} {
				t.Run(name+", "+script, func(t *testing.T) {
					p.both(t, capabilities, func(_ *testing.T, c *peer) []packet { return withoutNumbers(talk(c)) })
				})
			}
		}
	})
}

// A cursor on a sharded table with one owner is opened on the shard. A read of several shards has no cursor and
// returns all rows at once. Connections are returned to the pool.
func TestCursorsOnShards(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		c := login(t, p.proxy, classic)
		c.must("INSERT INTO test_order (buyer_uid, amount) VALUES (1, 10), (1, 20), (1, 30), (2, 40), (3, 50)")
		one, all := c.prepare("SELECT amount FROM test_order WHERE buyer_uid = 1 ORDER BY amount"), c.prepare("SELECT amount FROM test_order ORDER BY amount")
		opened := c.open(one)
		if rows := c.fetch(one, 2); len(opened) != 3 || len(rows) != 3 {
			t.Errorf("%v, %v", opened, rows)
		}
		if rows := rowsOf(c.open(all), 0); len(rows) != 5 {
			t.Errorf("rows %q", rows)
		}
		if rows := c.fetch(one, 2); len(rows) != 2 {
			t.Errorf("%v", rows)
		}
		for range 300 { // more than the pool has connections
			s := c.prepare("SELECT amount FROM test_order WHERE buyer_uid = 1")
			c.open(s)
			c.fetch(s, 1)
		}
		_ = c.stream.Close()
		other := login(t, p.proxy, classic)
		other.must("SELECT amount FROM test_order WHERE buyer_uid = 1")
	})
}
