package protocol

import (
	"regexp"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/servers"
	"locus/proxy/wire"
	"locus/test/shop"
)

func TestCommandsWithOneShortAnswer(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		for name, command := range map[string][]byte{
			"ping":                       {mysql.COM_PING},
			"reset":                      {mysql.COM_RESET_CONNECTION},
			"several statements on":      {mysql.COM_SET_OPTION, 0, 0},
			"several statements off":     {mysql.COM_SET_OPTION, 1, 0},
			"unknown option":             {mysql.COM_SET_OPTION, 7, 0},
			"sleep":                      {mysql.COM_SLEEP},
			"empty":                      {},
			"connect":                    {mysql.COM_CONNECT},
			"time":                       {mysql.COM_TIME},
			"delayed insert":             {mysql.COM_DELAYED_INSERT},
			"unknown command":            {0x7f},
			"no such database":           append([]byte{mysql.COM_INIT_DB}, "no_such_database"...),
			"no such prepared statement": {mysql.COM_STMT_RESET, 9, 0, 0, 0},
		} {
			t.Run(name, func(t *testing.T) {
				p.both(t, classic, func(t *testing.T, c *peer) []packet { return c.ask(wire.SimpleResponse, command) })
			})
		}
	})
}

func TestStatistics(t *testing.T) {
	form := regexp.MustCompile(`^Uptime: \d+  Threads: \d+  Questions: \d+  Slow queries: \d+  Opens: \d+  (Flush tables: \d+  )?Open tables: \d+  Queries per second avg: \d+\.\d+$`)
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		for _, at := range []endpoint{p.server, p.proxy} {
			c := login(t, at, classic)
			got := c.ask(wire.TextResponse, []byte{mysql.COM_STATISTICS})
			if len(got) != 1 || got[0].seq != 1 || !form.Match(got[0].payload) {
				t.Errorf("%s: %v", at.name, got)
			}
			c.must("SELECT 1")
		}
	})
}

// A command whose packets are numbered wrongly ends the connection.
func TestPacketsOutOfOrder(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.both(t, classic, func(t *testing.T, c *peer) []packet {
			c.write(3, []byte{mysql.COM_PING})
			got := c.read()
			c.gone()
			return []packet{got}
		})
	})
}

// A client may send several commands before it reads an answer.
func TestPipelining(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.both(t, classic, func(t *testing.T, c *peer) (said []packet) {
			reset, _ := wire.AppendCommand(nil, mysql.COM_RESET_CONNECTION, nil)
			both, _ := wire.AppendCommand(reset, mysql.COM_QUERY, []byte("SET NAMES utf8mb4"))
			both, _ = wire.AppendCommand(both, mysql.COM_QUERY, []byte("SELECT 1, 'two'"))
			if _, err := c.stream.Write(both); err != nil {
				t.Fatal(err)
			}
			said = append(said, c.answer(wire.SimpleResponse)...)
			said = append(said, c.answer(wire.SimpleResponse)...)
			return append(said, c.answer(wire.QueryResponse)...)
		})
	})
}

func changeUser(c *peer, user, password, database string) []byte {
	plugin := mysql.AUTH_NATIVE_PASSWORD
	if c.at.name == "proxy" || len(c.nonce) == 0 {
		plugin = mysql.AUTH_CACHING_SHA2_PASSWORD
	}
	response := answer(plugin, c.nonce, password)
	b := append([]byte{mysql.COM_CHANGE_USER}, user...)
	b = append(b, 0, byte(len(response)))
	b = append(append(append(b, response...), database...), 0, 8, 0) // latin1
	return append(append(b, plugin...), 0)
}

func TestChangeUser(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.both(t, classic, func(t *testing.T, c *peer) []packet {
			c.must("SET @a = 5, sql_mode = 'ANSI', time_zone = '+03:00'", "BEGIN", "USE information_schema")
			prepared := c.ask(wire.PrepareResponse, append([]byte{mysql.COM_STMT_PREPARE}, "SELECT 1"...))[0]
			c.write(0, changeUser(c, c.at.user, c.at.password, c.at.schema))
			c.authenticate(c.at.password)
			said := script("SELECT @a, @@time_zone, DATABASE(), @@character_set_client, @@character_set_results, @@collation_connection", "ROLLBACK")(t, c)
			head, err := wire.ParsePrepared(prepared.payload)
			if err != nil {
				t.Fatal(err)
			}
			return append(said, c.ask(wire.SimpleResponse, []byte{mysql.COM_STMT_RESET, byte(head.Statement), 0, 0, 0})...)
		})
	})
}

// MySQL closes the connection too; MariaDB does only after a few attempts.
func TestChangeUserWithAWrongPassword(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		for _, at := range []endpoint{p.server, p.proxy} {
			c := login(t, at, classic)
			c.write(0, changeUser(c, at.user, "wrong", at.schema))
			if e := c.refused("wrong"); e.Code != mysql.ER_ACCESS_DENIED_ERROR {
				t.Errorf("%s: %v", at.name, e)
			}
			if at == p.proxy || p.engine == servers.MySQL {
				c.gone()
			}
		}
	})
}
