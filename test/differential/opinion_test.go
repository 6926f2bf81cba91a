package differential

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"locus/internal/test/servers"
)

// A server's answer may depend on the plan. MariaDB compares a list of rows with mixed types, or a fraction
// with an integer, in one way if it uses an index, and in another if it reads all rows. To MySQL a text with a
// padded collation equals one with an unpadded collation in one way by an index, in another by a hash, and in a
// third row by row. Then the proxy's answer is correct if it is one of those that the plain server gives with
// different plans.

// way is a way to make the plain server use another plan for a read.
type way struct {
	shape    shape
	literals bool   // and no parameters
	set      string // under these variables
}

// shape states which indexes the tables have.
type shape string

const (
	own     shape = ""         // their own
	bare    shape = "_bare"    // no indexes
	sparse  shape = "_sparse"  // sharded tables have none, like gathered ones
	primary shape = "_primary" // sharded ones have their primary keys alone, as gathered ones may
	few     shape = "_few"     // sharded tables have theirs, with statistics of one row, as gathered ones may have
	many    shape = "_many"    // … with statistics of a million rows
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

// undecided reports whether the plain server gives the proxy's answer to a read in one of the ways, or the
// proxy's error to a part of the read. For a list of texts and numbers it suffices that the plain server gives
// two different answers, because there are as many answers as ways to compare each of them.
func (p *pair) undecided(s *statement, proxy, plain *answer) bool {
	if proxy.err != nil && plain.err != nil {
		return p.saysWithout(s, proxy.number, 1) || p.saysWithout(s, proxy.number, 2)
	}
	return slices.ContainsFunc(p.opinions(s), func(a *answer) bool {
		return differ(s, proxy, a) == "" || s.mixed && proxy.err == nil && a.err == nil && differ(s, plain, a) != ""
	})
}

// saysWithout is for a read to which both sides return errors. It reports whether the plain server returns the
// proxy's error if up to the given number of pieces are left out. If a read has several errors, each side
// returns the first one that it finds.
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

// opinions returns the plain server's answers to a read in all ways.
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

// undecidedChange reports whether the plain server, with another plan for an UPDATE or DELETE, changes the
// former rows of a table into those that the shards have now.
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

// undressed returns a session of the plain server with the server's default settings.
func (p *pair) undressed() *sql.Conn {
	conn, err := p.plain.Conn(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	return conn
}

// reshape copies the tables into schemas with other indexes or other statistics. drop removes these schemas.
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

// tellRows sets the statistics of a schema's sharded tables to the given number of rows.
func (p *pair) tellRows(conn *sql.Conn, schema string, n int) {
	for _, t := range sharded {
		p.exec(conn, "ANALYZE TABLE "+schema+"."+t.name)
		p.exec(conn, "UPDATE mysql.innodb_table_stats SET n_rows = ?, clustered_index_size = ? WHERE database_name = ? AND table_name = ?", n, 1+n/100, schema, t.name)
		p.exec(conn, "FLUSH TABLES "+schema+"."+t.name)
	}
}

// in runs a statement in a way.
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
