package protocol

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/servers"
	"locus/proxy/wire"
	"locus/test/shop"
)

// changeUser sends COM_CHANGE_USER with an answer to the last nonce.
func (p *peer) changeUser(user, plugin string, response []byte) {
	b := append([]byte{mysql.COM_CHANGE_USER}, user...)
	b = append(b, 0, byte(len(response)))
	b = append(append(append(b, response...), p.at.schema...), 0, 45, 0)
	p.write(0, append(append(b, plugin...), 0))
}

// switched reads the following packets and answers a request to authenticate. It returns the kinds of the packets.
func (p *peer) switched(password string) (said []string) {
	for {
		asked := p.read()
		switch asked.payload[0] {
		case mysql.OK_HEADER:
			return append(said, "OK")
		case mysql.ERR_HEADER:
			e, _ := wire.ParseERR(asked.payload)
			return append(said, e.State)
		case mysql.MORE_DATE_HEADER:
			said = append(said, "more "+string(asked.payload[1:2]))
			if asked.payload[1] == mysql.CACHE_SHA2_FULL_AUTH {
				return said
			}
		case mysql.EOF_HEADER:
			plugin, rest, _ := bytes.Cut(asked.payload[1:], []byte{0})
			said = append(said, "switch to "+string(plugin))
			p.write(asked.seq+1, answer(string(plugin), bytes.TrimRight(rest, "\x00"), password))
		default:
			p.t.Fatalf("%s: %q", p.at.name, asked.payload)
		}
	}
}

// Both servers ask the client again after COM_CHANGE_USER, whatever the command has of an answer. So does the proxy, by the plugin that
// the client names if that can be.
func TestChangeUserAsksAgain(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		own := mysql.AUTH_NATIVE_PASSWORD
		if p.engine == servers.MySQL {
			own = mysql.AUTH_CACHING_SHA2_PASSWORD
		}
		answers := map[string]func(c *peer, plugin string) []byte{
			"empty": func(*peer, string) []byte { return nil },
			"NUL":   func(*peer, string) []byte { return []byte{0} },
			"right": func(c *peer, plugin string) []byte { return answer(plugin, c.nonce, c.at.password) },
			"wrong": func(c *peer, plugin string) []byte { return answer(plugin, c.nonce, "wrong") },
		}
		for first, response := range answers {
			for _, then := range []string{"right", "wrong"} {
				talk := func(at endpoint, plugin string) string {
					c := login(t, at, classic)
					password := at.password
					if then == "wrong" {
						password = "wrong"
					}
					c.changeUser(at.user, plugin, response(c, plugin))
					return fmt.Sprint(c.switched(password))
				}
				want := talk(p.server, own)
				if got := talk(p.proxy, own); got != want {
					t.Errorf("%s, first %s, then %s: proxy %s, server %s", own, first, then, got, want)
				}
				for _, plugin := range []string{mysql.AUTH_CACHING_SHA2_PASSWORD, "none_yet", ""} {
					got := talk(p.proxy, plugin)
					if then == "right" && got != "[switch to caching_sha2_password more \x03 OK]" || then == "wrong" && got != "[switch to caching_sha2_password more \x04]" {
						t.Errorf("%q, first %s, then %s: %q", plugin, first, then, got)
					}
				}
			}
		}
	})
}
