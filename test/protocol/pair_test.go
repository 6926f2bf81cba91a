package protocol

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/servers"
	"locus/proxy/wire"
	"locus/test/shop"
)

// pair is a proxy, and the server of its first shard to compare it with.
type pair struct {
	engine        servers.Engine
	shop          *shop.Shop
	server, proxy endpoint
}

// pairs runs a test for each engine.
func pairs(t *testing.T, o shop.Options, test func(t *testing.T, p *pair)) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, o)
		shard := s.Servers[0]
		if err := shard.DB(t, s.Schema).PingContext(t.Context()); err != nil { // fills its cache of passwords
			t.Fatal(err)
		}
		test(t, &pair{
			engine: engine,
			shop:   s,
			server: endpoint{"server", shard.Addr(), shard.User, shard.Password, s.Schema},
			proxy:  endpoint{"proxy", s.Addr, shop.User, shop.Password, s.Schema},
		})
	})
}

// both runs a talk with the server and with the proxy, and compares the answers.
func (p *pair) both(t *testing.T, capabilities uint32, talk func(t *testing.T, c *peer) []packet) {
	t.Helper()
	want := talk(t, login(t, p.server, capabilities))
	got := talk(t, login(t, p.proxy, capabilities))
	compare(t, got, want)
}

// timings matches the times that command-line clients print.
var timings = regexp.MustCompile(`\(?\d+\.\d+ sec\)?`)

// byWhom matches two parts of errors that may differ: the internal function of the server, and the ID of a
// statement, which MariaDB doesn't count from 1 in each session.
var byWhom = regexp.MustCompile(` \(\d+\) given to \w+`)

func told(p packet) string {
	text := byWhom.ReplaceAllString(p.String(), "")
	if syntax := wire.IsERR(p.payload) && binary.LittleEndian.Uint16(p.payload[1:]) == mysql.ER_PARSE_ERROR; syntax {
		return fmt.Sprint(p.seq, " ", mysql.ER_PARSE_ERROR)
	}
	return text
}

func compare(t *testing.T, got, want []packet) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("packet %d: missing, want %v", i, want[i])
		case i >= len(want):
			t.Errorf("packet %d: %v, want none", i, got[i])
		case told(got[i]) != told(want[i]):
			t.Errorf("packet %d:\n got %v\nwant %v", i, got[i], want[i])
		}
	}
}

// script returns a talk of one text after the other.
func script(texts ...string) func(t *testing.T, c *peer) []packet {
	return func(t *testing.T, c *peer) (said []packet) {
		t.Helper()
		for _, text := range texts {
			said = append(said, c.query(text)...)
		}
		return said
	}
}
