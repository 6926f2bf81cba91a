package protocol

import (
	"bytes"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/servers"
	"locus/proxy/wire"
	"locus/test/shop"
)

// extendedTalk queries columns with extended types, in every way in which columns are described to clients.
func extendedTalk(c *peer) (said []packet) {
	c.t.Helper()
	for _, text := range []string{
		"SELECT * FROM typed", "SELECT JSON_ARRAY(1) AS j, 1 AS n", "SHOW COLUMNS FROM typed", "SELECT nothing FROM typed", "SHOW WARNINGS",
		"SHOW COUNT(*) ERRORS", "SELECT ROW_COUNT() AS j", "DROP TABLE IF EXISTS nowhere", "SHOW WARNINGS",
	} {
		said = append(said, c.query(text)...)
	}
	said = append(said, c.ask(wire.FieldListResponse, append([]byte{mysql.COM_FIELD_LIST}, "typed\x00%\x00"...))...)
	for _, text := range []string{"SELECT * FROM typed WHERE id > ?", "SELECT j FROM typed"} {
		prepared := c.ask(wire.PrepareResponse, append([]byte{mysql.COM_STMT_PREPARE}, text...))
		head, err := wire.ParsePrepared(prepared[0].payload)
		if err != nil {
			c.t.Fatalf("%s: %v: %v", c.at.name, text, prepared)
		}
		clear(prepared[0].payload[1:5])
		params := make([]wire.Param, head.Params)
		for i := range params {
			params[i] = wire.Param{Type: mysql.MYSQL_TYPE_TINY, Value: []byte{0}}
		}
		execute, _ := wire.AppendExecute(nil, wire.Execute{Statement: head.Statement, Params: params})
		said = append(append(said, prepared...), c.ask(wire.QueryResponse, execute[wire.HeaderSize:])...)
	}
	s := c.prepare("SELECT j, id FROM typed")
	said = append(append(said, c.open(s)...), c.fetch(s, 10)...)
	return said
}

// MariaDB's extended types reach only clients that have requested them. MySQL has no such capability.
func TestExtendedMetadata(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		types := "j JSON, p POINT, l LINESTRING"
		if p.engine == servers.MariaDB {
			types += ", u UUID, a INET6, v INET4"
		}
		login(t, p.proxy, classic).must("CREATE TABLE typed (id INT PRIMARY KEY, "+types+")", `INSERT INTO typed (id, j, p) VALUES (1, '{"a": 1}', POINT(1, 2))`)
		for name, capabilities := range dialects {
			for wish, extended := range map[string]uint32{"asked for": wire.ExtendedMetadata, "not asked for": 0} {
				t.Run(name+", "+wish, func(t *testing.T) {
					want := extendedTalk(loginExtended(t, p.server, capabilities, extended))
					c := loginExtended(t, p.proxy, capabilities, extended)
					if offered := c.extended != 0; offered != (extended != 0 && p.engine == servers.MariaDB) {
						t.Errorf("offered: %v", offered)
					}
					compare(t, extendedTalk(c), want)
				})
			}
		}
	})
}

// Answers that the proxy puts together have columns of the same form.
func TestExtendedMetadataOfSeveralShards(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		c := loginExtended(t, p.proxy, classic, wire.ExtendedMetadata)
		c.must("INSERT INTO test_order (buyer_uid, amount) VALUES (1, 10), (2, 20), (3, 30)")
		for _, text := range []string{
			"SELECT buyer_uid, amount FROM test_order ORDER BY amount", "SELECT SUM(amount) AS amount FROM test_order", "EXPLAIN SELECT * FROM test_order",
		} {
			said := c.query(text)
			columns, _ := wire.LenInt(said[0].payload)
			for _, definition := range said[1 : 1+columns] {
				parse := wire.ParseColumn
				if c.extended != 0 {
					parse = wire.ParseExtendedColumn
				}
				column, err := parse(definition.payload)
				if err != nil || !bytes.Contains(definition.payload, column.Name) || column.Type == 0 {
					t.Errorf("%s: %v: %+v, %v", text, definition, column, err)
				}
			}
		}
	})
}
