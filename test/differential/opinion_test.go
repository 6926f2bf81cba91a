package differential

import (
	"context"
	"strings"
)

// A server may answer differently with an index than without: MariaDB compares a
// list of rows of mixed types, or a bound fraction with an integer, in one way
// where it looks values up and in another where it reads all rows. Such an answer
// is no measure of the proxy's, which then must be one of the two.

// undecided tells whether the plain server itself gives the proxy's answer to a
// read, over tables of the same rows without any index.
func (p *pair) undecided(s *statement, proxy *answer) bool {
	ctx := context.WithoutCancel(p.t.Context())
	bare := p.shop.Schema + "_bare"
	conn, err := p.plain.Conn(ctx)
	if err != nil {
		p.t.Fatal(err)
	}
	defer conn.Close()
	p.exec(conn, "CREATE DATABASE "+bare)
	defer p.exec(conn, "DROP DATABASE "+bare)
	defer p.exec(conn, "USE "+p.shop.Schema)
	p.exec(conn, "SET @v42 = 42, @vs = 'ann'")
	for _, t := range tables {
		p.exec(conn, "CREATE TABLE "+bare+"."+t.name+" AS SELECT * FROM "+p.shop.Schema+"."+t.name)
	}
	p.exec(conn, "USE "+bare)
	s.moved = strings.NewReplacer(p.shop.Schema+".", bare+".")
	defer func() { s.moved = nil }()
	return differ(s, proxy, ask(ctx, conn, s, true)) == ""
}
