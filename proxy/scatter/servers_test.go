//go:build servers

package scatter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/idgen/gene"
	"locus/internal/test/servers"
	"locus/proxy/backend"
	"locus/proxy/reply"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

func TestMain(m *testing.M) { servers.Main(m) }

// liveColumn is a column of the table that is asked; values are SQL literals.
type liveColumn struct {
	catalog.Column
	sql    string
	values func(*rand.Rand) string
}

func pickFrom(values ...string) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return values[r.IntN(len(values))] }
}

func number(format string, scale float64, limit int64) func(*rand.Rand) string {
	return func(r *rand.Rand) string {
		if r.IntN(2) == 0 {
			limit = 9
		}
		return fmt.Sprintf(format, float64(r.Int64N(2*limit)-limit)/scale)
	}
}

var words = pickFrom("'a'", "'A'", "'á'", "'ab'", "'a '", "'a b'", "''", "'Z'", "'z'", "'ß'", "'ss'", "'Ä'", "'买家'", "'\U0001F600'", "'\U0001F600 '", "'_'", "'ae'", "'æ'", "'ch'", "'c'", "'cz'", "'a\u00ad'", "'a\u0301'", "'ﬃ'", "'ffi '", "'a\\t'", "'10'", "'9'")

func text(name, collation string, padded bool) liveColumn {
	return liveColumn{
		catalog.Column{Name: name, DataType: "varchar", Nullable: true, Length: 20, Charset: "utf8mb4", Collation: collation, PadSpace: padded},
		"VARCHAR(20) CHARACTER SET utf8mb4 COLLATE " + collation, words,
	}
}

func plain(name, dataType, sql string, values func(*rand.Rand) string) liveColumn {
	return liveColumn{catalog.Column{Name: name, DataType: dataType, Nullable: true, Unsigned: strings.Contains(sql, "UNSIGNED")}, sql, values}
}

// liveColumns are the same on both engines, except for a collation that only MySQL has.
func liveColumns(engine servers.Engine) []liveColumn {
	all := []liveColumn{
		plain("ti", "tinyint", "TINYINT", number("%.0f", 1, 128)),
		plain("i", "int", "INT", number("%.0f", 1, 1<<31)),
		plain("b", "bigint", "BIGINT", pickFrom("-9223372036854775808", "9223372036854775807", "0", "-1", "1", "12")),
		plain("u", "bigint", "BIGINT UNSIGNED", pickFrom("18446744073709551615", "9223372036854775808", "0", "1", "12")),
		plain("d3", "decimal", "DECIMAL(12,3)", number("%.3f", 1000, 1e11)),
		plain("d5", "decimal", "DECIMAL(20,5)", number("%.5f", 100000, 1e11)),
		plain("d9", "decimal", "DECIMAL(20,9)", number("%.9f", 1e9, 1e11)),
		plain("d10", "decimal", "DECIMAL(30,10)", number("%.10f", 1e10, 1e14)),
		plain("d30", "decimal", "DECIMAL(65,30)", pickFrom("0.000000000000000000000000000001", "-7.5", "12345678901234567890123456789012345", "1")),
		plain("d0", "decimal", "DECIMAL(65,0)", pickFrom("12345678901234567890123456789012345678901234567890", "-5", "5", "0", "7")),
		plain("f", "float", "FLOAT", number("%.4f", 16, 1e5)),
		plain("g", "double", "DOUBLE", number("%.4f", 16, 1e9)),
		plain("da", "date", "DATE", pickFrom("'2024-02-29'", "'1000-01-01'", "'9999-12-31'", "'2024-03-01'", "'0999-05-05'")),
		plain("dt", "datetime", "DATETIME(3)", pickFrom("'2024-02-29 10:00:00'", "'2024-02-29 10:00:00.5'", "'2024-02-29 09:59:59.999'", "'1000-01-01'")),
		plain("ts", "timestamp", "TIMESTAMP NULL", pickFrom("'2024-02-29 10:00:00'", "'2024-02-29 10:00:01'", "'1999-12-31 23:59:59'")),
		plain("y", "year", "YEAR", pickFrom("1901", "2155", "2024", "1999")),
		text("bin", "utf8mb4_bin", true),
		text("gen", "utf8mb4_general_ci", true),
		text("uni", "utf8mb4_unicode_ci", true),
		text("uni520", "utf8mb4_unicode_520_ci", true),
		text("german", "utf8mb4_german2_ci", true),
		text("czech", "utf8mb4_czech_ci", true),
		{catalog.Column{Name: "vb", DataType: "varbinary", Nullable: true, Length: 20}, "VARBINARY(20)", pickFrom("'a'", "'a '", "x'6100'", "x'ff'", "''")},
		{catalog.Column{Name: "fix", DataType: "binary", Nullable: true, Length: 4}, "BINARY(4)", pickFrom("'a'", "'a '", "x'6100'", "x'ff'", "''")},
	}
	if engine == servers.MySQL {
		return append(all, text("uca", "utf8mb4_0900_ai_ci", false))
	}
	return append(all, text("uca", "utf8mb4_unicode_520_nopad_ci", false), text("uca1400", "utf8mb4_uca1400_ai_ci", true))
}

// live is the same rows in one database and spread over three.
type live struct {
	engine  servers.Engine
	columns []liveColumn
	catalog *catalog.Catalog
	whole   *backend.Conn
	shards  []*backend.Conn
}

const liveParts = 3

func newLive(t *testing.T, engine servers.Engine) *live {
	server := servers.Shared(t, engine, 1)[0]
	l := &live{engine: engine, columns: liveColumns(engine)}
	var databases []string
	for range liveParts + 1 {
		name := servers.Database(t, server)
		databases = append(databases, name)
		server.Exec(t, l.create(name))
	}
	l.fill(t, server, databases)
	pool := backend.NewPool(backend.Target{
		Shard: "s0", Addr: server.Addr(), User: server.User, Password: func() (string, error) { return server.Password, nil },
	}, backend.Limits{}, slog.New(slog.NewTextHandler(io.Discard, nil)))
	for i, name := range databases {
		c, err := pool.Borrow(t.Context(), backend.Default.WithDatabase(name).WithNames("utf8mb4", ""), 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { pool.Discard(c) })
		if i == 0 {
			l.whole = c
		} else {
			l.shards = append(l.shards, c)
		}
	}
	l.declare(t)
	return l
}

func (l *live) create(database string) string {
	list := []string{"id BIGINT PRIMARY KEY", "owner BIGINT NOT NULL"}
	for _, c := range l.columns {
		list = append(list, c.Name+" "+c.sql)
	}
	return "CREATE TABLE " + database + ".t (" + strings.Join(list, ", ") + ")"
}

// fill inserts every row into the table with all rows and into one of the parts. The last part has few rows.
func (l *live) fill(t *testing.T, server *servers.Server, databases []string) {
	r := rand.New(rand.NewPCG(1, 2))
	rows := make([][]string, len(databases))
	for id := range 300 {
		values := []string{fmt.Sprint(id), fmt.Sprint(id)}
		for _, c := range l.columns {
			v := "NULL"
			if r.IntN(8) > 0 {
				v = c.values(r)
			}
			values = append(values, v)
		}
		row := "(" + strings.Join(values, ", ") + ")"
		part := 1 + id%2
		if id%50 == 0 {
			part = 3
		}
		rows[0] = append(rows[0], row)
		rows[part] = append(rows[part], row)
	}
	for i, name := range databases {
		server.Exec(t, "SET NAMES utf8mb4", "SET sql_mode = ''", "INSERT INTO "+name+".t VALUES "+strings.Join(rows[i], ", "))
	}
}

func (l *live) declare(t *testing.T) {
	columns := []catalog.Column{{Name: "id", DataType: "bigint"}, {Name: "owner", DataType: "bigint"}}
	for _, c := range l.columns {
		columns = append(columns, c.Column)
	}
	d := catalog.Declaration{Kind: catalog.Sharded, Owner: "owner", ID: &catalog.IDColumn{Column: "id", Layout: "int64"}}
	table, err := catalog.Resolve(catalog.TableName{Schema: "test", Name: "t"}, d, columns, gene.W16)
	if err != nil {
		t.Fatal(err)
	}
	l.catalog = catalog.New([]router.ShardName{"s0"}, []*catalog.Table{table}, nil)
}

// send sends a query to a connection.
func send(t *testing.T, c *backend.Conn, sql string, f Format) {
	t.Helper()
	packet, _ := wire.AppendCommand(nil, mysql.COM_QUERY, []byte(sql))
	if f == Binary {
		s, _, err := c.Prepare(t.Context(), sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		packet, _ = wire.AppendExecute(nil, wire.Execute{Statement: s.ID})
	}
	if err := c.Send(packet, backend.Nothing); err != nil {
		t.Fatal(err)
	}
}

// plan plans a query for several shards, and returns the text for the shards.
func (l *live) plan(t *testing.T, sql string) (*plan.Merge, string) {
	t.Helper()
	var lexed stmt.Lexed
	lexed.Lex([]byte(sql), 0)
	p, err := plan.Make(&lexed, plan.Context{Catalog: l.catalog, Schema: "test"})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	read, ok := p.(*plan.Read)
	if !ok || read.Merge == nil {
		t.Fatalf("%s: %v", sql, p)
	}
	m := read.Merge
	if m.Hidden == 0 {
		return m, sql
	}
	at := lexed.Offset(m.Columns[0].At)
	return m, sql[:at] + m.Columns[0].Text + sql[at:]
}

// ask returns the answer of the server with all rows, and the merged answer of the parts.
func (l *live) ask(t *testing.T, sql string, f Format, limit plan.Window) (want, got received, err error) {
	t.Helper()
	m, text := l.plan(t, sql)
	if limit.Set {
		sql += fmt.Sprintf(" LIMIT %d, %d", limit.Offset, limit.Count)
		text += fmt.Sprintf(" LIMIT %d", limit.Offset+limit.Count)
	}
	send(t, l.whole, sql, f)
	want = receive(l.whole.Stream().NetConn(), f, 0)
	if want.err != nil || want.cut != nil {
		t.Fatalf("%s: %v %v", sql, want.err, want.cut)
	}
	for _, c := range l.shards {
		send(t, c, text, f)
	}
	var o Outcome
	got, o, err = mergeReal(l.shards, m, f, limit)
	if slices.Contains(o.Clean, false) {
		t.Fatalf("%s: a connection isn't clean: %v", text, err)
	}
	return want, got, err
}

func mergeReal(conns []*backend.Conn, m *plan.Merge, f Format, limit plan.Window) (received, Outcome, error) {
	return collect(f, func(to *reply.Client, as Options) (Outcome, error) { return Merge(conns, m, f, limit, to, as) })
}

func TestServersOrdered(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		l := newLive(t, engine)
		limits := []plan.Window{{}, {Count: 10, Set: true}, {Offset: 95, Count: 120, Set: true}, {Offset: 290, Count: 50, Set: true}}
		for i, c := range l.columns {
			for n, query := range []string{
				"SELECT id FROM t ORDER BY %[1]s, id",
				"SELECT %[1]s, id FROM t ORDER BY %[1]s DESC, id DESC",
				"SELECT *, %[1]s AS again FROM t WHERE owner > 20 ORDER BY 2, again",
			} {
				sql := fmt.Sprintf(query, c.Name)
				if strings.Contains(sql, "again") {
					sql = fmt.Sprintf("SELECT *, %[1]s AS again FROM t WHERE owner > 20 ORDER BY again, t.id", c.Name)
				}
				for _, f := range []Format{Text, Binary} {
					limit := limits[(i+n)%len(limits)]
					want, got, err := l.ask(t, sql, f, limit)
					if _, refused := errors.AsType[*plan.Refusal](err); refused && c.Name == "f" && f == Text {
						continue // FLOAT as text has lost digits; better no answer than a wrong one
					}
					if err != nil || !slices.EqualFunc(want.rows, got.rows, slices.Equal) {
						t.Errorf("%s, format %d, %+v: %v: %s", sql, f, limit, err, difference(want.rows, got.rows))
					}
				}
			}
		}
	})
}

func difference(want, got [][]string) string {
	for i := range want {
		if i >= len(got) || !slices.Equal(want[i], got[i]) {
			g := []string{}
			if i < len(got) {
				g = got[i]
			}
			return fmt.Sprintf("row %d of %d is %q, want %q", i, len(want), g, want[i])
		}
	}
	return fmt.Sprintf("%d rows, want %d", len(got), len(want))
}

// The weights of a space are those that the servers use.
func TestSpaceWeights(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		db := servers.Shared(t, engine, 1)[0].DB(t, "")
		checked := 0
		for _, c := range liveColumns(engine) {
			if c.DataType != "varchar" || !c.PadSpace || strings.HasSuffix(c.Collation, "_bin") || strings.HasSuffix(c.Collation, "general_ci") {
				continue
			}
			l := &live{columns: []liveColumn{c}}
			l.declare(t)
			m, _ := l.plan(t, "SELECT owner FROM t ORDER BY "+c.Name)
			var want []byte
			if err := db.QueryRow("SELECT WEIGHT_STRING(CONVERT(' ' USING utf8mb4) COLLATE " + c.Collation + ")").Scan(&want); err != nil {
				t.Fatal(err)
			}
			if got := m.Keys[0].Pad; !bytes.Equal(got, want) {
				t.Errorf("%s: %x, and the server's is %x", c.Collation, got, want)
			}
			checked++
		}
		if checked < 4 {
			t.Errorf("%d collations", checked)
		}
	})
}

func TestServersConcat(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		l := newLive(t, engine)
		for _, f := range []Format{Text, Binary} {
			want, got, err := l.ask(t, "SELECT * FROM t WHERE i > 0", f, plan.Window{})
			byText := func(a, b []string) int { return slices.Compare(a, b) }
			slices.SortFunc(want.rows, byText)
			slices.SortFunc(got.rows, byText)
			if err != nil || len(got.rows) == 0 || !slices.EqualFunc(want.rows, got.rows, slices.Equal) {
				t.Errorf("%v: %s", err, difference(want.rows, got.rows))
			}
			if _, got, err = l.ask(t, "SELECT id FROM t", f, plan.Window{Offset: 3, Count: 7, Set: true}); err != nil || len(got.rows) != 7 {
				t.Errorf("%v, %d rows with LIMIT 3, 7", err, len(got.rows))
			}
		}
	})
}

func TestServersAggregated(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		l := newLive(t, engine)
		for _, c := range l.columns {
			functions := "COUNT(*), COUNT(%[1]s)"
			switch c.DataType {
			case "tinyint", "int", "bigint", "decimal", "float", "double", "year":
				functions += ", SUM(%[1]s), MIN(%[1]s), MAX(%[1]s), AVG(%[1]s)"
			case "date", "datetime", "varbinary", "binary":
				functions += ", MIN(%[1]s), MAX(%[1]s)"
			}
			for _, where := range []string{"", " WHERE owner < 150", " WHERE owner IN (49, 50)", " WHERE owner = 1 AND owner > 1", " WHERE %[1]s IS NULL"} {
				for _, f := range []Format{Text, Binary} {
					sql := fmt.Sprintf("SELECT "+functions+" FROM t"+strings.ReplaceAll(where, "owner", "owner + 0"), c.Name)
					want, got, err := l.ask(t, sql, f, plan.Window{})
					if err != nil || !slices.EqualFunc(want.rows, got.rows, slices.Equal) {
						t.Errorf("%s, format %d: %v: %s", sql, f, err, difference(want.rows, got.rows))
					}
				}
			}
		}
	})
}

// appendDouble writes a double as the servers do.
func TestServersWriteDoublesAlike(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		l := newLive(t, engine)
		r := rand.New(rand.NewPCG(3, 4))
		for range 300 {
			v := (r.Float64() - 0.5) * pow10(r.IntN(60)-30)
			if r.IntN(3) == 0 {
				v = float64(r.IntN(2000)-1000) * pow10(r.IntN(40)-20)
			}
			mine := string(appendDouble(nil, v, notFixed))
			send(t, l.whole, fmt.Sprintf("SELECT %s + 0e0", fmt.Sprintf("%.17e", v)), Text)
			if got := receive(l.whole.Stream().NetConn(), Text, 0); len(got.rows) != 1 || got.rows[0][0] != "|"+mine {
				t.Errorf("%v: servers write %q, we %s", v, got.rows, mine)
			}
		}
	})
}

func pow10(n int) float64 {
	v := 1.0
	for ; n > 0; n-- {
		v *= 10
	}
	for ; n < 0; n++ {
		v /= 10
	}
	return v
}
