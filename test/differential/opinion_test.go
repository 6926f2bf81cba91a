package differential

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"locus/internal/test/servers"
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
	few     shape = "_few"     // sharded ones have theirs, and are said to have one row, as gathered ones may
	many    shape = "_many"    // … and are said to have a million
)

// plans are variables by which the optimizer takes other plans.
var plans = map[servers.Engine][]string{
	servers.MySQL:   {"", "optimizer_switch = 'block_nested_loop=off'", "optimizer_switch = 'semijoin=off,derived_merge=off'"},
	servers.MariaDB: {"", "join_cache_level = 0", "optimizer_switch = 'semijoin=off,derived_merge=off'"},
}

func (p *pair) ways(shapes ...shape) (out []way) {
	for _, shape := range shapes {
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
		return p.saysWithout(s, proxy.number, 1) || p.saysWithout(s, proxy.number, 2)
	}
	return slices.ContainsFunc(p.opinions(s), func(a *answer) bool {
		return differ(s, proxy, a) == "" || s.mixed && proxy.err == nil && a.err == nil && differ(s, plain, a) != ""
	})
}

// saysWithout tells whether a read that both sides have an error for has the proxy's
// too: without so many pieces of it the plain server says so. Of several errors either
// side tells the one that it comes upon first, and one may stand in two pieces.
func (p *pair) saysWithout(s *statement, number uint16, pieces int) bool {
	return slices.ContainsFunc(s.root.droppable(nil), func(piece *node) bool {
		piece.dropped = true
		defer func() { piece.dropped = false }()
		if pieces > 1 {
			return p.saysWithout(s, number, pieces-1)
		}
		return p.ask(p.direct, s).number == number
	})
}

// opinions are the plain server's answers to a read.
func (p *pair) opinions(s *statement) (out []*answer) {
	shapes := []shape{bare, sparse, primary, few, many}
	defer p.reshape(shapes...)()
	for _, w := range p.ways(append(shapes, own)...) {
		p.in(w, s, func(conn *sql.Conn, s *statement) { out = append(out, p.ask(conn, s)) })
	}
	return out
}

func (p *pair) ask(conn *sql.Conn, s *statement) *answer {
	return ask(context.WithoutCancel(p.t.Context()), conn, s, true)
}

// undecidedChange tells whether the plain server itself makes of the rows that a table
// had before an UPDATE or DELETE those that the shards have now, where another plan is
// taken for it.
func (p *pair) undecidedChange(s *statement, proxy *answer, before []row) bool {
	text, _ := s.render(true)
	if verb := strings.ToUpper(strings.TrimSpace(text)); !strings.HasPrefix(verb, "UPDATE") && !strings.HasPrefix(verb, "DELETE") {
		return false
	}
	want := texts(s.writes, p.rowsOf(s.writes, false), s.skip)
	p.put(s.writes, before)
	defer p.copy(s.writes)
	shapes := []shape{few, many}
	defer p.reshape(shapes...)()
	return slices.ContainsFunc(p.ways(shapes...), func(w way) (same bool) {
		p.in(w, s, func(conn *sql.Conn, s *statement) {
			p.exec(conn, "BEGIN")
			defer p.exec(conn, "ROLLBACK")
			same = differ(s, proxy, p.ask(conn, s)) == "" && slices.Equal(texts(s.writes, p.read(conn, s.writes), s.skip), want)
		})
		return same
	})
}

// undressed is a session of the plain server with the server's own settings.
func (p *pair) undressed() *sql.Conn {
	conn, err := p.plain.Conn(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	return conn
}

// reshape copies the tables into schemas where they have other indexes, or other
// statistics, and gives what takes those away.
func (p *pair) reshape(shapes ...shape) (drop func()) {
	conn := p.undressed()
	for _, as := range shapes {
		schema := p.shop.Schema + string(as)
		p.exec(conn, "CREATE DATABASE "+schema)
		for _, t := range tables {
			p.copyAs(conn, as, t, p.shop.Schema+"."+t.name, schema+"."+t.name)
		}
		for _, sql := range programs[:stored] {
			p.exec(conn, strings.ReplaceAll(sql, "{schema}", schema))
		}
		if n := map[shape]int{few: 1, many: 1_000_000}[as]; n > 0 {
			p.tellRows(conn, schema, n)
		}
	}
	return func() {
		defer p.leave(conn)
		for _, as := range shapes {
			p.exec(conn, "DROP DATABASE "+p.shop.Schema+string(as))
		}
	}
}

func (p *pair) copyAs(conn *sql.Conn, as shape, t *table, from, to string) {
	whole := as == few || as == many || as != bare && t.owner == ""
	switch {
	case whole:
		p.exec(conn, "CREATE TABLE "+to+" LIKE "+from)
		p.exec(conn, "ALTER TABLE "+to+" STATS_PERSISTENT = 1, STATS_AUTO_RECALC = 0")
		p.exec(conn, "SET @before = @@sql_mode, SESSION sql_mode = '"+asStored+"'")
		p.exec(conn, "INSERT INTO "+to+" SELECT * FROM "+from)
		p.exec(conn, "SET SESSION sql_mode = @before")
	case as == primary:
		p.exec(conn, "CREATE TABLE "+to+" (PRIMARY KEY ("+strings.Join(t.primary, ", ")+")) AS SELECT * FROM "+from)
	default:
		p.exec(conn, "CREATE TABLE "+to+" AS SELECT * FROM "+from)
	}
}

// tellRows has the optimizer believe that a schema's sharded tables have so many rows.
func (p *pair) tellRows(conn *sql.Conn, schema string, n int) {
	for _, t := range sharded {
		p.exec(conn, "ANALYZE TABLE "+schema+"."+t.name)
		p.exec(conn, "UPDATE mysql.innodb_table_stats SET n_rows = ?, clustered_index_size = ? WHERE database_name = ? AND table_name = ?", n, 1+n/100, schema, t.name)
		p.exec(conn, "FLUSH TABLES "+schema+"."+t.name)
	}
}

// in has a statement asked in a way.
func (p *pair) in(w way, s *statement, asks func(*sql.Conn, *statement)) {
	conn := p.connect(p.plain)
	defer p.leave(conn)
	if w.set != "" {
		p.exec(conn, "SET SESSION "+w.set)
	}
	asked := *s
	asked.prepared = s.prepared && !w.literals
	if w.shape != own {
		schema := p.shop.Schema + string(w.shape)
		p.exec(conn, "USE "+schema)
		asked.moved = strings.NewReplacer(p.shop.Schema+".", schema+".")
	}
	asks(conn, &asked)
}
