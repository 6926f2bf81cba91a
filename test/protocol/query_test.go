package protocol

import (
	"fmt"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
	"locus/test/shop"
)

// dialects are capability flags of clients of different ages.
var dialects = map[string]uint32{
	"classic":     classic,
	"without EOF": classic | mysql.CLIENT_DEPRECATE_EOF,
}

// texts are statements that a plain server understands as well. They use undeclared tables, for which CREATE TABLE adds a
// note.
var texts = []string{
	"DROP TABLE IF EXISTS plain", "SET sql_notes = 0", "CREATE TABLE plain (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20), big MEDIUMTEXT)", "SET sql_notes = 1",
	"INSERT INTO plain (name) VALUES ('a'), ('b'), (NULL)", "SELECT id, name FROM plain ORDER BY id", "SELECT * FROM plain WHERE id > 7",
	"UPDATE plain SET name = 'c' WHERE id < 3", "SELECT nothing FROM plain", "SELECT 1 FROM", "DELETE FROM plain WHERE id = 3",
	"INSERT INTO plain (name, big) VALUES ('long', REPEAT('x', 70000))", "SELECT big FROM plain WHERE name = 'long'",
	"INSERT INTO plain (name, big) SELECT 'many', 'row' FROM information_schema.collations LIMIT 100", "SELECT * FROM plain",
	"SELECT 1 + 1 AS two, 'x' AS x UNION SELECT 3, NULL", "DO 1", "SELECT CAST('x' AS SIGNED)", "USE information_schema",
	"SET @a = 1", "SELECT @a", "BEGIN", "ROLLBACK", "SET autocommit = 0", "SET autocommit = 1",
	"SET SESSION TRANSACTION READ ONLY", "SELECT 1", "BEGIN", "SELECT 1", "COMMIT AND CHAIN", "SET SESSION TRANSACTION READ WRITE", "SELECT 1", "COMMIT",
	"SET TRANSACTION READ ONLY", "BEGIN", "DO 1", "ROLLBACK", "START TRANSACTION READ ONLY", "DO 1", "COMMIT AND CHAIN", "COMMIT", "BEGIN", "COMMIT",
	"SELECT REPEAT('y', 300000)",
}

func TestTexts(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		for name, capabilities := range dialects {
			t.Run(name, func(t *testing.T) {
				p.both(t, capabilities, func(t *testing.T, c *peer) []packet {
					c.must("CREATE TABLE IF NOT EXISTS plain (id INT)")
					return script(texts...)(t, c)
				})
			})
		}
	})
}

func TestSeveralStatementsInOneText(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		for name, capabilities := range dialects {
			t.Run(name, func(t *testing.T) {
				for _, at := range []endpoint{p.server, p.proxy} {
					login(t, at, classic).must("CREATE TABLE IF NOT EXISTS several (id INT)", "DROP PROCEDURE IF EXISTS twice", "CREATE PROCEDURE twice() SELECT 1")
				}
				p.both(t, capabilities|mysql.CLIENT_MULTI_STATEMENTS, script(
					"DROP TABLE IF EXISTS several; SET sql_notes = 0; CREATE TABLE several (id INT PRIMARY KEY, name VARCHAR(20)); SET sql_notes = 1;",
					"INSERT INTO several VALUES (1, 'a;b'), (2, 'c'); SELECT * FROM several; SELECT 'x;y' AS `s;t`; UPDATE several SET name = 'd' WHERE id = 1; ",
					"SELECT 1; SELECT 1 FROM nowhere; SELECT 2", "SELECT 1; SELEC 2; SELECT 3", "SELECT 3;", "SELECT 4; ; SELECT 5", "SELECT 6; -- 7",
					"SET @a = 1; BEGIN; INSERT INTO several VALUES (3, 'e'); SELECT @a; ROLLBACK; SELECT * FROM several",
					"DROP PROCEDURE IF EXISTS twice; CREATE PROCEDURE twice() BEGIN SELECT 1; SELECT 2; END; SELECT 3",
					"CALL twice(); SELECT 4; CALL twice()", "USE information_schema; SELECT DATABASE()",
				))
			})
		}
	})
}

func TestSeveralStatementsSwitchedOff(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		for _, at := range []endpoint{p.server, p.proxy} {
			c := login(t, at, classic|mysql.CLIENT_MULTI_STATEMENTS)
			c.ask(wire.SimpleResponse, []byte{mysql.COM_SET_OPTION, 1, 0})
			if said := c.query("SELECT 1; SELECT 2"); !wire.IsERR(said[0].payload) {
				t.Errorf("%s: %v", at.name, said)
			}
			c.ask(wire.SimpleResponse, []byte{mysql.COM_SET_OPTION, 0, 0})
			c.must("SELECT 1; SELECT 2")
		}
	})
}

// Statements for one shard, for several, and with generated IDs are in one text.
func TestSeveralStatementsOnShards(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		for name, capabilities := range dialects {
			t.Run(name, func(t *testing.T) {
				c := login(t, p.proxy, capabilities|mysql.CLIENT_MULTI_STATEMENTS)
				c.must("DELETE FROM test_order WHERE buyer_uid IN (1, 2, 3) AND buyer_uid = 1")
				said := c.query("INSERT INTO test_order (buyer_uid, amount) VALUES (1, 10); INSERT INTO test_order (buyer_uid, amount) VALUES (1, 1), (2, 2), (3, 3);" +
					"SELECT COUNT(*) FROM test_order; SELECT amount FROM test_order ORDER BY amount; SELECT LAST_INSERT_ID() > 0; SHOW WARNINGS; SELECT 1 FROM nowhere; SELECT 2")
				for i, packet := range said {
					if packet.seq != byte(i+1) {
						t.Errorf("packet %d has number %d", i+1, packet.seq)
					}
				}
				if last := said[len(said)-1]; !wire.IsERR(last.payload) {
					t.Errorf("the last answer is %v", last)
				}
				c.must("SELECT 1")
				c.must("DELETE FROM test_order WHERE buyer_uid = 1", "DELETE FROM test_order WHERE buyer_uid = 2", "DELETE FROM test_order WHERE buyer_uid = 3")
			})
		}
	})
}

// Merged and local answers have the same rows for every client.
func TestDialectsOfTheProxysOwnAnswers(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		old, modern := login(t, p.proxy, classic), login(t, p.proxy, classic|mysql.CLIENT_DEPRECATE_EOF)
		old.must("INSERT INTO test_order (buyer_uid, amount) VALUES (1, 10), (2, 20), (3, 30), (4, 40)")
		for _, text := range []string{
			"SELECT buyer_uid FROM test_order ORDER BY amount DESC", "SELECT SUM(amount) FROM test_order", "SELECT amount FROM test_order WHERE buyer_uid = 2",
			"EXPLAIN SELECT * FROM test_order", "SHOW WARNINGS",
		} {
			want, got := fmt.Sprint(rowsOf(old.query(text), 0)), fmt.Sprint(rowsOf(modern.query(text), mysql.CLIENT_DEPRECATE_EOF))
			if got != want {
				t.Errorf("%s: %s, want %s", text, got, want)
			}
		}
	})
}

// rowsOf returns the payloads of a result set's rows.
func rowsOf(said []packet, capabilities uint32) (rows []string) {
	columns, _ := wire.LenInt(said[0].payload)
	from := 1 + int(columns)
	if capabilities&mysql.CLIENT_DEPRECATE_EOF == 0 {
		from++
	}
	for _, row := range said[from : len(said)-1] {
		rows = append(rows, string(row.payload))
	}
	return rows
}

func TestFieldList(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		for name, capabilities := range dialects {
			t.Run(name, func(t *testing.T) {
				p.both(t, capabilities, func(t *testing.T, c *peer) (said []packet) {
					for _, table := range []string{"setting", "nowhere"} {
						said = append(said, c.ask(wire.FieldListResponse, append([]byte{mysql.COM_FIELD_LIST}, table+"\x00%\x00"...))...)
					}
					return said
				})
			})
		}
	})
}

func TestPreparedStatements(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		for name, capabilities := range dialects {
			t.Run(name, func(t *testing.T) {
				p.both(t, capabilities, func(t *testing.T, c *peer) (said []packet) {
					c.must("DELETE FROM setting")
					for _, text := range []string{
						"SELECT name, value FROM setting WHERE name = ? OR name <> ?", "REPLACE INTO setting VALUES (?, ?)",
						"SELECT 1", "DO 1", "SELECT name FROM setting WHERE name = ? AND value > ?", "SELECT nothing",
					} {
						prepared := c.ask(wire.PrepareResponse, append([]byte{mysql.COM_STMT_PREPARE}, text...))
						head, err := wire.ParsePrepared(prepared[0].payload)
						if !wire.IsERR(prepared[0].payload) {
							clear(prepared[0].payload[1:5]) // the statement's number
						}
						said = append(said, prepared...)
						if err != nil {
							continue
						}
						execute, _ := wire.AppendExecute(nil, wire.Execute{Statement: head.Statement, Params: make([]wire.Param, head.Params)})
						if head.Params == 2 {
							execute, _ = wire.AppendExecute(nil, wire.Execute{Statement: head.Statement, Params: []wire.Param{
								{Type: mysql.MYSQL_TYPE_VAR_STRING, Value: []byte("name")}, {Type: mysql.MYSQL_TYPE_VAR_STRING, Value: []byte("value")},
							}})
						}
						said = append(said, c.ask(wire.QueryResponse, execute[wire.HeaderSize:])...)
					}
					return said
				})
			})
		}
	})
}

// The proxy's own answers to prepared statements have binary rows too.
func TestPreparedStatementsOfTheProxysOwn(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		c := login(t, p.proxy, classic)
		prepared := c.ask(wire.PrepareResponse, append([]byte{mysql.COM_STMT_PREPARE}, "EXPLAIN SELECT * FROM test_order WHERE buyer_uid = 42"...))
		head, err := wire.ParsePrepared(prepared[0].payload)
		if err != nil {
			t.Fatal(err)
		}
		execute, _ := wire.AppendExecute(nil, wire.Execute{Statement: head.Statement})
		rows := rowsOf(c.ask(wire.QueryResponse, execute[wire.HeaderSize:]), 0)
		if len(rows) == 0 {
			t.Fatal("no rows")
		}
		if values, err := wire.SplitBinaryRow(nil, []byte(rows[0]), []byte{mysql.MYSQL_TYPE_VAR_STRING, mysql.MYSQL_TYPE_VAR_STRING}); err != nil || len(values[0]) == 0 {
			t.Errorf("%q, %v", values, err)
		}
	})
}
