package differential

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/router/catalog"
	"locus/test/shop"
)

// pair is the two sides.
type pair struct {
	t      *testing.T
	engine servers.Engine
	shop   *shop.Shop
	all    []*servers.Server // the shards', and the plain one
	shards []*sql.DB
	plain  *sql.DB

	proxied, direct *sql.Conn
	has             map[*table][]row // the plain server's rows when they were last read
	ambiguous       int              // statements to which the servers have several answers
	wears           *outfit          // nil: the initial settings of sessions
}

func newPair(t *testing.T, engine servers.Engine) *pair {
	s := shop.Start(t, engine, shop.Options{Shards: 3, Tables: forShards(engine), Declarations: declarations, User: ", scatter_writes: allow"})
	p := &pair{t: t, engine: engine, shop: s, has: map[*table][]row{}}
	for i := range 3 {
		p.shards = append(p.shards, s.Shard(t, i))
	}
	p.all = servers.Shared(t, engine, 4)
	server := p.all[3]
	server.Exec(t, "CREATE DATABASE "+s.Schema)
	t.Cleanup(func() {
		if err := server.Execute(context.WithoutCancel(t.Context()), "DROP DATABASE "+s.Schema); err != nil {
			t.Error(err)
		}
	})
	for _, sql := range slices.Concat(shop.Tables, shop.Single, forPlain(engine)) {
		server.Exec(t, strings.ReplaceAll(sql, "{schema}", s.Schema))
	}
	p.plain = server.DB(t, s.Schema)
	p.proxied, p.direct = p.connect(s.DB(t, nil)), p.connect(p.plain)
	p.program(server)
	return p
}

// connect opens a session, and sets the variables that statements read.
func (p *pair) connect(db *sql.DB) *sql.Conn {
	conn, err := db.Conn(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = conn.Close() })
	p.exec(conn, "SET @v42 = 42, @vs = 'ann'")
	p.dressed(conn)
	return conn
}

// leave closes a session that must not be used again.
func (p *pair) leave(conn *sql.Conn) {
	if err := conn.Raw(func(any) error { return driver.ErrBadConn }); !errors.Is(err, driver.ErrBadConn) && !errors.Is(err, sql.ErrConnDone) {
		p.t.Error(err)
	}
}

// execer is a connection or a transaction.
type execer interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}

func (p *pair) exec(conn execer, query string, args ...any) {
	p.t.Helper()
	if _, err := conn.ExecContext(p.t.Context(), query, args...); err != nil {
		p.t.Fatalf("%s %v: %v", query, args, err)
	}
}

// fill inserts rows through the proxy, which stamps them, and copies them. Some
// owners are numbers that are other rows' IDs.
func (p *pair) fill(g *generator) {
	for round := range 2 {
		if round > 0 {
			g.owners = append(g.owners, g.accountIDs(3)...)
		}
		for _, t := range tables {
			p.fillTable(g, t)
			p.copy(t)
			p.hold(g, t)
		}
	}
}

func (p *pair) fillTable(g *generator, t *table) {
	for i := range 30 {
		columns, _ := g.insertColumns(t)
		columns = slices.DeleteFunc(columns, func(c column) bool { return slices.Contains(t.stamped, c.name) })
		keys := g.keys(t)
		switch t.owner {
		case "owner":
			keys["owner"] = fmt.Sprint(g.owners[len(g.owners)-1-i%len(g.owners)])
		case "who":
			keys["who"] = whos[i%len(whos)]
		}
		var names, marks []string
		var args []any
		for _, c := range columns {
			v := g.fresh(c)
			if k, ok := keys[c.name]; ok {
				v = g.string(k)
			} else if g.oneIn(6) && !slices.Contains(t.primary, c.name) {
				v.param = nil
			}
			names, marks, args = append(names, c.name), append(marks, "?"), append(args, v.param)
		}
		_, _ = p.proxied.ExecContext(p.t.Context(), // some are out of range or there twice
			fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", t.name, strings.Join(names, ", "), strings.Join(marks, ", ")), args...)
	}
}

// accountIDs returns IDs of existing rows.
func (g *generator) accountIDs(n int) (out []int64) {
	for range n {
		out = append(out, g.ids.some(g))
	}
	return out
}

// row is a table's row, as text or NULL by column.
type row []any

// rowsOf reads all rows of a table, from the shards or from the plain server.
func (p *pair) rowsOf(t *table, plain bool) (out []row) {
	p.t.Helper()
	dbs := []*sql.DB{p.plain}
	if !plain {
		dbs = dbs[:0]
		for _, i := range t.shards {
			dbs = append(dbs, p.shards[i])
		}
	}
	for _, db := range dbs {
		out = append(out, p.read(db, t)...)
	}
	return out
}

// querier is a server or a connection.
type querier interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}

func (p *pair) read(from querier, t *table) (out []row) {
	p.t.Helper()
	rows, err := from.QueryContext(p.t.Context(), "SELECT * FROM "+t.name)
	if err != nil {
		p.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		r, pointers := make(row, len(t.columns)), make([]any, len(t.columns))
		for i := range r {
			pointers[i] = &r[i]
		}
		if err := rows.Scan(pointers...); err != nil {
			p.t.Fatalf("%s: %v", t.name, err)
		}
		out = append(out, r)
	}
	if err := rows.Err(); err != nil {
		p.t.Fatal(err)
	}
	return out
}

// copy inserts the rows of the shards into the plain server's table.
func (p *pair) copy(t *table) { p.put(t, p.rowsOf(t, false)) }

// asStored is the sql_mode in which a server accepts all rows that another one can have.
const asStored = "ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO"

// put replaces the rows of the plain server's table.
func (p *pair) put(t *table, rows []row) {
	p.has[t] = rows
	tx, err := p.plain.BeginTx(p.t.Context(), nil)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	p.exec(tx, "SET @before = @@sql_mode, SESSION sql_mode = '"+asStored+"'")
	p.exec(tx, "DELETE FROM "+t.name)
	for from := 0; from < len(rows); from += 50 {
		batch := rows[from:min(from+50, len(rows))]
		mark := "(" + strings.Repeat(", ?", len(t.columns))[2:] + ")"
		p.exec(tx, "INSERT INTO "+t.name+" VALUES "+strings.Repeat(", "+mark, len(batch))[2:], slices.Concat(batch...)...)
	}
	p.exec(tx, "SET SESSION sql_mode = @before")
	if err := tx.Commit(); err != nil {
		p.t.Fatal(err)
	}
}

// hold gives the generator the current rows of a table.
func (p *pair) hold(g *generator, t *table) {
	rows := p.rowsOf(t, true)
	for i, c := range t.columns {
		var held []string
		for _, r := range rows {
			switch v := r[i].(type) {
			case nil:
			case []byte:
				held = append(held, string(v))
			default:
				held = append(held, fmt.Sprint(v))
			}
		}
		if c.kind == bits || c.kind == raw {
			held = nil
		}
		slices.Sort(held)
		g.held[t.name+"."+c.name] = held
	}
}

// compare returns the difference between the two sides' rows of a table, without the skipped columns. Then it
// makes the rows equal again.
func (p *pair) compare(t *table, skip []string) string {
	got, want := p.rowsOf(t, false), p.rowsOf(t, true)
	same := slices.Equal(texts(t, got, nil), texts(t, want, nil))
	if same {
		p.has[t] = want
		return p.copies(t)
	}
	a, b := texts(t, got, skip), texts(t, want, skip)
	p.copy(t)
	if slices.Equal(a, b) {
		return p.copies(t)
	}
	return fmt.Sprintf("table %s afterwards: the shards alone have\n    %s\n  the plain server alone has\n    %s",
		t.name, strings.Join(without(a, b), "\n    "), strings.Join(without(b, a), "\n    "))
}

// copies holds the copies of a global table to each other.
func (p *pair) copies(t *table) string {
	if t != product {
		return ""
	}
	first := texts(t, p.rowsOf(t, false), nil)
	for i := 1; i < 3; i++ {
		other := *t
		other.shards = []int{i}
		if !slices.Equal(first, texts(t, p.rowsOf(&other, false), nil)) {
			return fmt.Sprintf("global table %s has other rows on shard s%d than on s0", t.name, i)
		}
	}
	return ""
}

func texts(t *table, rows []row, skip []string) []string {
	out := make([]string, 0, len(rows))
	for _, r := range rows {
		var kept []any
		for i, c := range t.columns {
			if !slices.Contains(skip, c.name) {
				kept = append(kept, r[i])
			}
		}
		out = append(out, shown(kept))
	}
	slices.Sort(out)
	return out
}

// without returns the elements of a that are not in b. Both are sorted.
func without(a, b []string) (out []string) {
	left := slices.Clone(b)
	for _, s := range a {
		if i, ok := slices.BinarySearch(left, s); ok {
			left = slices.Delete(left, i, i+1)
			continue
		}
		out = append(out, s)
	}
	return out
}

// genes holds the column that locus makes to the rows' owners, and the rows to their shards.
func (p *pair) genes() {
	p.t.Helper()
	m := p.shop.Cluster.Routes
	for _, t := range tables {
		for i := 0; t.ownGene && i < len(p.shards); i++ {
			rows, err := p.shards[i].QueryContext(p.t.Context(), "SELECT "+t.owner+", "+catalog.OwnGene+" FROM "+t.name)
			if err != nil {
				p.t.Fatal(err)
			}
			defer rows.Close()
			for rows.Next() {
				var owner, g int64
				if err := rows.Scan(&owner, &g); err != nil {
					p.t.Fatal(err)
				}
				if want := geneOfOwner(owner); g != int64(want) || m.Lookup(want) != i {
					p.t.Errorf("table %s on shard s%d: owner %d has gene %d, want %d on s%d", t.name, i, owner, g, want, m.Lookup(want))
				}
			}
			if err := rows.Err(); err != nil {
				p.t.Fatal(err)
			}
		}
	}
}
