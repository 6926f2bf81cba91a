package protocol

import (
	"bytes"
	"net"
	"testing"
	"time"

	"locus/proxy/stream"
	"locus/test/product"
	"locus/test/shop"
)

// Some clients use the collation of the greeting as their own. It is the server's, whatever has happened to the
// route map.
func TestGreetingsCollation(t *testing.T) {
	collation := func(t *testing.T, at endpoint) byte {
		t.Helper()
		conn, err := net.Dial("tcp", at.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
		greeting, _, err := stream.New(conn).Payload()
		if err != nil {
			t.Fatal(err)
		}
		return greeting[bytes.IndexByte(greeting, 0)+16]
	}
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		if want, got := collation(t, p.server), collation(t, p.proxy); got != want || want == 0 {
			t.Errorf("the proxy greets with collation %d, the server with %d", got, want)
		}
		renewed := *p.shop.Cluster
		renewed.Routes = renewed.Routes.Renewed()
		p.shop.Apply(&renewed)
		product.Eventually(t, "the proxy has the map", func() bool { return p.shop.Proxy.Map().Version() == renewed.Routes.Version() })
		if want, got := collation(t, p.server), collation(t, p.proxy); got != want {
			t.Errorf("after a change of the map the proxy greets with collation %d, the server with %d", got, want)
		}
	})
}

// The server derives the collation of literals from the collation number at login, from SET NAMES, and from
// resets. Newer servers replace some collations by the first one of the character set.
func TestCollationsOfLogins(t *testing.T) {
	const asked = "SELECT @@character_set_client, @@character_set_results, @@collation_connection, COLLATION('a'), COLLATION(@a), COLLATION(CAST(1 AS CHAR)), 'a' = 'ä', 'a' = 'a '"
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		for name, number := range map[string]byte{
			"utf8mb4_general_ci": 45, "utf8mb4_bin": 46, "utf8mb4_unicode_ci": 224, "utf8mb3_general_ci": 33, "utf8mb3_unicode_ci": 192,
			"latin1_swedish_ci": 8, "latin1_bin": 47, "utf8mb4_0900_ai_ci": 255,
		} {
			t.Run(name, func(t *testing.T) {
				said := func(at endpoint) []packet {
					return script(
						asked, "SET @a = 'x'", asked, "SET NAMES utf8mb4", asked, "SET @a = 'x'", asked, "SET NAMES utf8mb4 COLLATE utf8mb4_general_ci", asked, "SET @a = 'x'", asked,
						"SET NAMES utf8mb3", asked, "SET NAMES latin1", asked, "SET collation_connection = utf8mb4_general_ci", asked, "SET character_set_connection = utf8mb4", asked,
						"SET CHARACTER SET utf8mb4", asked, "SET NAMES DEFAULT", asked,
					)(t, loginCollated(t, at, classic, 0, number))
				}
				compare(t, said(p.proxy), said(p.server))
			})
		}
	})
}
