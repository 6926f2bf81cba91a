package protocol

import (
	"fmt"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/servers"
	"locus/proxy/wire"
	"locus/test/shop"
)

// columns prepares and executes a statement, and returns the names and types of the columns in both answers.
func (p *peer) columns(text string) (prepared, executed []string) {
	p.t.Helper()
	answer := p.ask(wire.PrepareResponse, append([]byte{mysql.COM_STMT_PREPARE}, text...))
	head, err := wire.ParsePrepared(answer[0].payload)
	if err != nil {
		return []string{told(answer[0])}, nil
	}
	definitions := func(said []packet, count int) (list []string) {
		for _, packet := range said {
			if c, err := wire.ParseColumn(packet.payload); err == nil && len(packet.payload) > 20 && len(list) < count {
				list = append(list, fmt.Sprint(string(c.Name), " ", c.Type))
			}
		}
		return list
	}
	prepared = definitions(answer[1:], int(head.Columns))
	execute, _ := wire.AppendExecute(nil, wire.Execute{Statement: head.Statement})
	answer = p.ask(wire.QueryResponse, execute[wire.HeaderSize:])
	if wire.IsERR(answer[0].payload) {
		p.t.Fatalf("%s: %s: %v", p.at.name, text, answer)
	}
	return prepared, definitions(answer[1:], int(answer[0].payload[0]))
}

// The columns in the answer to COM_STMT_PREPARE are those of the execution, whether a shard or the proxy
// answers.
func TestPreparedColumns(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		for name, capabilities := range dialects {
			t.Run(name, func(t *testing.T) {
				server, proxy := login(t, p.server, capabilities), login(t, p.proxy, capabilities)
				texts := []string{"SHOW WARNINGS", "SHOW ERRORS LIMIT 1", "SHOW COUNT(*) WARNINGS"}
				if p.engine == servers.MySQL { // which doesn't prepare them
					texts = nil
				}
				for _, text := range append(texts,
					"SELECT CONNECTION_ID() = 0", "SELECT FOUND_ROWS(), USER()",
					"SHOW PROCESSLIST", "SHOW VARIABLES LIKE 'version'", "SHOW STATUS LIKE 'Uptime'", "SET @a = 1", "COMMIT",
					"SELECT * FROM information_schema.processlist LIMIT 1", "SELECT * FROM information_schema.processlist WHERE id = 0",
				) {
					prepared, executed := proxy.columns(text)
					if fmt.Sprint(prepared) != fmt.Sprint(executed) {
						t.Errorf("%s: prepared %v, executed %v", text, prepared, executed)
					}
				}
				// Servers themselves promise nothing for some.
				for _, text := range []string{"SELECT CONNECTION_ID() = 0", "SELECT FOUND_ROWS(), USER()", "SELECT VERSION() AS v", "SET @a = 1", "EXPLAIN SELECT 1"} {
					want, _ := server.columns(text)
					if prepared, _ := proxy.columns(text); len(prepared) != len(want) {
						t.Errorf("%s: %v, a server has %v", text, prepared, want)
					}
				}
				for _, text := range []string{"EXPLAIN SELECT * FROM test_order WHERE buyer_uid = 42"} {
					prepared, executed := proxy.columns(text)
					if len(prepared) == 0 || fmt.Sprint(prepared) != fmt.Sprint(executed) {
						t.Errorf("%s: prepared %v, executed %v", text, prepared, executed)
					}
				}
			})
		}
	})
}

func TestPreparedHereTalks(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.both(t, classic, func(t *testing.T, c *peer) (said []packet) {
			for _, text := range []string{"PREPARE a FROM 'SELECT 1'", "EXECUTE a"} {
				said = append(said, withoutNumbers(c.ask(wire.PrepareResponse, append([]byte{mysql.COM_STMT_PREPARE}, text...)))...)
			}
			return said
		})
	})
}
