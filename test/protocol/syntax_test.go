package protocol

import (
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
	"locus/test/shop"
)

// Syntax errors quote the same part as a server that has the whole text.
func TestSyntaxErrorsOfSeveralStatements(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		for capabilities, texts := range map[uint32][]string{
			classic: {
				"SELECT 1; SELECT 2", "SELECT 1;\n\n SELECT\n2 ; \n", "SELECT 1;;",
				"SELECT 1; SELECT 'a text that is longer than what servers quote of it: they stop behind eighty bytes, wherever'",
				"/* ' */ SELECT 'foo' AS f1 --';", "SELECT 'x", "SELECT 1 /* no end", "SELECT `x", "FOO;",
				"COMMIT AND CHAIN RELEASE", "PREPARE ", "GET DIAGNOSTICS CONDITION 1 @n = NUMBER", "SET SESSION", "START", "KILL", "FLUSH",
			},
			classic | mysql.CLIENT_MULTI_STATEMENTS: {
				"BAR; FOO;", "SELECT 1; FOO\n; SELECT 2", "FOO", "SELECT 1; BAR; SELECT 'of more than eighty bytes, of which the last are left out of the error'",
				"SELECT 1; SELECT 'x",
			},
		} {
			for _, text := range texts {
				var said [2]string
				for i, at := range []endpoint{p.server, p.proxy} {
					c := login(t, at, capabilities)
					c.write(0, append([]byte{mysql.COM_QUERY}, text...))
					packets := c.answer(wire.QueryResponse)
					said[i] = packets[len(packets)-1].String()
				}
				if said[0] != said[1] {
					t.Errorf("%s\nproxy  %s\nserver %s", text, said[1], said[0])
				}
			}
		}
		for _, text := range []string{"SELECT 1; SELECT 2", "SELECT ?;\nSELECT ?", "SELECT ? --'", "FOO"} {
			var said [2]string
			for i, at := range []endpoint{p.server, p.proxy} {
				c := login(t, at, classic)
				c.write(0, append([]byte{mysql.COM_STMT_PREPARE}, text...))
				said[i] = c.read().String()
			}
			if said[0] != said[1] {
				t.Errorf("prepared: %s\nproxy  %s\nserver %s", text, said[1], said[0])
			}
		}
	})
}
