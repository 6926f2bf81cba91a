package differential

import (
	"context"
	"slices"
	"strings"

	"locus/test/servers"
)

// A server may answer differently by one plan than by another: MariaDB compares a
// list of rows of mixed types, or a bound fraction with an integer, in one way where
// it looks values up and in another where it reads all rows; to MySQL a text of a
// padded collation equals one of an unpadded collation in one way by an index, in
// another by a hash and in a third row by row. Such an answer is no measure of the
// proxy's, which then must be one of those that the plain server gives.

// way is one in which the plain server is asked for the answer to a read.
type way struct {
	shape    shape
	literals bool   // and no parameters
	set      string // under these variables
}

// shape says which indexes the tables have whose rows are read.
type shape string

const (
	own     shape = ""         // their own
	bare    shape = "_bare"    // none
	sparse  shape = "_sparse"  // sharded ones have none, as gathered ones do
	primary shape = "_primary" // sharded ones have their primary keys alone, as gathered ones may
)

// plans are variables by which the optimizer takes other plans.
var plans = map[servers.Engine][]string{
	servers.MySQL:   {"", "optimizer_switch = 'block_nested_loop=off'", "optimizer_switch = 'semijoin=off,derived_merge=off'"},
	servers.MariaDB: {"", "join_cache_level = 0", "optimizer_switch = 'semijoin=off,derived_merge=off'"},
}

func (p *pair) ways() (out []way) {
	for _, shape := range []shape{own, bare, sparse, primary} {
		for _, set := range plans[p.engine] {
			out = append(out, way{shape, false, set}, way{shape, true, set})
		}
	}
	return out
}

// undecided tells whether the plain server itself gives the proxy's answer to a
// read in one of the ways, or its error to a part of the read. Of a list of texts and
// numbers it is enough that it gives two answers: there are as many as there are ways
// to compare each of them.
func (p *pair) undecided(s *statement, proxy, plain *answer) bool {
	if proxy.err != nil && plain.err != nil {
		return p.wrongTwice(s, proxy)
	}
	return slices.ContainsFunc(p.opinions(s), func(a *answer) bool {
		return differ(s, proxy, a) == "" || s.mixed && proxy.err == nil && a.err == nil && differ(s, plain, a) != ""
	})
}

// wrongTwice tells whether a read that both sides have an error for has the proxy's
// too: without some piece of it the plain server says so. Of several errors either
// side tells the one that it comes upon first.
func (p *pair) wrongTwice(s *statement, proxy *answer) bool {
	return slices.ContainsFunc(s.root.droppable(nil), func(piece *node) bool {
		piece.dropped = true
		defer func() { piece.dropped = false }()
		return ask(context.WithoutCancel(p.t.Context()), p.direct, s, true).number == proxy.number
	})
}

// opinions are the plain server's answers to a read.
func (p *pair) opinions(s *statement) (out []*answer) {
	for _, shape := range []shape{bare, sparse, primary} {
		p.reshape(shape)
		defer p.exec(p.direct, "DROP DATABASE "+p.shop.Schema+string(shape))
	}
	for _, w := range p.ways() {
		out = append(out, p.askIn(w, s))
	}
	return out
}

// reshape copies the tables into a schema where they have other indexes.
func (p *pair) reshape(as shape) {
	schema := p.shop.Schema + string(as)
	p.exec(p.direct, "CREATE DATABASE "+schema)
	for _, t := range tables {
		from, to := p.shop.Schema+"."+t.name, schema+"."+t.name
		switch {
		case as == bare, as == sparse && t.owner != "":
			p.exec(p.direct, "CREATE TABLE "+to+" AS SELECT * FROM "+from)
		case t.owner != "":
			p.exec(p.direct, "CREATE TABLE "+to+" (PRIMARY KEY ("+strings.Join(t.primary, ", ")+")) AS SELECT * FROM "+from)
		default:
			p.exec(p.direct, "CREATE TABLE "+to+" LIKE "+from)
			p.exec(p.direct, "INSERT INTO "+to+" SELECT * FROM "+from)
		}
	}
}

func (p *pair) askIn(w way, s *statement) *answer {
	conn := p.connect(p.plain)
	defer conn.Close()
	if w.set != "" {
		name, _, _ := strings.Cut(w.set, " ")
		p.exec(conn, "SET SESSION "+w.set)
		defer p.exec(conn, "SET SESSION "+name+" = DEFAULT")
	}
	asked := *s
	asked.prepared = s.prepared && !w.literals
	if w.shape != own {
		schema := p.shop.Schema + string(w.shape)
		p.exec(conn, "USE "+schema)
		defer p.exec(conn, "USE "+p.shop.Schema)
		asked.moved = strings.NewReplacer(p.shop.Schema+".", schema+".")
	}
	return ask(context.WithoutCancel(p.t.Context()), conn, &asked, true)
}
