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

// Some clients take the collation that they are greeted with for their own: it is
// that of the server, whatever has become of the route map meanwhile.
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
