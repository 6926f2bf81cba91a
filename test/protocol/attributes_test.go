package protocol

import (
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/servers"
	"locus/proxy/wire"
	"locus/test/shop"
)

// attributed returns a query with three attributes: a text, a number and NULL.
func attributed(text string) []byte {
	b := []byte{mysql.COM_QUERY, 3, 1, 0b100, 1}
	b = append(b, mysql.MYSQL_TYPE_STRING, 0, 11)
	b = append(b, "traceparent"...)
	b = append(b, mysql.MYSQL_TYPE_LONG, 0, 1, 'n', mysql.MYSQL_TYPE_NULL, 0, 0)
	b = append(b, 5, '0', '0', '-', '4', 'b', 7, 0, 0, 0)
	return append(b, text...)
}

// named returns a COM_STMT_EXECUTE with a parameter and an attribute.
func named(statement uint32, value string) []byte {
	b := []byte{mysql.COM_STMT_EXECUTE, byte(statement), 0, 0, 0, mysql.PARAMETER_COUNT_AVAILABLE, 1, 0, 0, 0, 2, 0, 1}
	b = append(b, mysql.MYSQL_TYPE_STRING, 0, 0, mysql.MYSQL_TYPE_STRING, 0, 5, 't', 'r', 'a', 'c', 'e')
	b = append(append(b, byte(len(value))), value...)
	return append(b, 1, 'x')
}

func TestQueryAttributes(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		talk := func(t *testing.T, c *peer) (said []packet) {
			plain := func(text string) []byte { return append([]byte{mysql.COM_QUERY, 0, 1}, text...) }
			for _, command := range [][]byte{plain("SELECT 1"), attributed("SELECT 'a', 2"), attributed(""), plain("DO 1")} {
				said = append(said, c.ask(wire.QueryResponse, command)...)
			}
			prepared := c.ask(wire.PrepareResponse, append([]byte{mysql.COM_STMT_PREPARE}, "SELECT ?, 1"...))
			head, err := wire.ParsePrepared(prepared[0].payload)
			if err != nil {
				t.Fatal(err)
			}
			said = append(said, c.ask(wire.QueryResponse, named(head.Statement, "abc"))...)
			// without types, so that the types of the last execution apply
			said = append(said, c.ask(wire.QueryResponse, append([]byte{mysql.COM_STMT_EXECUTE, byte(head.Statement), 0, 0, 0, 8, 1, 0, 0, 0, 1, 0, 0}, "\x02de"...))...)
			prepared = c.ask(wire.PrepareResponse, append([]byte{mysql.COM_STMT_PREPARE}, "SELECT 1"...))
			if head, err = wire.ParsePrepared(prepared[0].payload); err != nil {
				t.Fatal(err)
			}
			return append(said, c.ask(wire.QueryResponse, []byte{mysql.COM_STMT_EXECUTE, byte(head.Statement), 0, 0, 0, 8, 1, 0, 0, 0, 0})...)
		}
		if p.engine == servers.MySQL {
			p.both(t, classic|mysql.CLIENT_QUERY_ATTRIBUTES, talk)
			return
		}
		for _, said := range talk(t, login(t, p.proxy, classic|mysql.CLIENT_QUERY_ATTRIBUTES)) {
			if e, err := wire.ParseERR(said.payload); err == nil && e.Code != mysql.ER_EMPTY_QUERY {
				t.Error(e)
			}
		}
	})
}

// A statement on a shard takes the same way.
func TestQueryAttributesOnShards(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		c := login(t, p.proxy, classic|mysql.CLIENT_QUERY_ATTRIBUTES)
		for _, command := range [][]byte{
			attributed("INSERT INTO test_order (buyer_uid, amount) VALUES (7, 1)"), attributed("SELECT amount FROM test_order WHERE buyer_uid = 7"),
			attributed("SELECT COUNT(*) FROM test_order"),
			{mysql.COM_QUERY, 9},
			{mysql.COM_QUERY, 1, 1, 0, 0, 'x'},
		} {
			said := c.ask(wire.QueryResponse, command)
			if failed, malformed := wire.IsERR(said[0].payload), len(command) < 10; failed != malformed {
				t.Errorf("%q: %v", command, said)
			}
		}
		prepared := c.ask(wire.PrepareResponse, append([]byte{mysql.COM_STMT_PREPARE}, "SELECT amount FROM test_order WHERE buyer_uid = ?"...))
		head, err := wire.ParsePrepared(prepared[0].payload)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if rows := rowsOf(c.ask(wire.QueryResponse, named(head.Statement, "7")), 0); len(rows) != 1 {
				t.Errorf("rows %q", rows)
			}
		}
	})
}
