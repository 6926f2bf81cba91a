package stamp

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"locus/idgen/cipher"
	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

func bigint(name string) catalog.Column { return catalog.Column{Name: name, DataType: "bigint"} }

func unsigned(name string) catalog.Column {
	return catalog.Column{Name: name, DataType: "bigint", Unsigned: true}
}

func binary16(name string) catalog.Column {
	return catalog.Column{Name: name, DataType: "binary", Length: 16}
}

func varchar(name string) catalog.Column {
	return catalog.Column{Name: name, DataType: "varchar", Length: 64, Charset: "utf8mb4", Collation: "utf8mb4_bin", PadSpace: true}
}

func id(column, layout string) *catalog.IDColumn {
	return &catalog.IDColumn{Column: column, Layout: layout}
}

func varbinary16(name string) catalog.Column {
	return catalog.Column{Name: name, DataType: "varbinary", Length: 16}
}

func overflowing(column, layout string) *catalog.IDColumn {
	return &catalog.IDColumn{Column: column, Layout: layout, Overflow: "bytes16"}
}

// schema declares one table for each way of stamping.
var schema = map[string]struct {
	catalog.Declaration
	columns []catalog.Column
}{
	"orders": {
		catalog.Declaration{Owner: "user_id", ID: id("id", "int64"), OrderNumber: "no", Version: "ver"},
		[]catalog.Column{bigint("id"), bigint("no"), bigint("user_id"), varchar("note"), bigint("ver")},
	},
	"notes": {
		catalog.Declaration{Owner: "author", Gene: "gene"},
		[]catalog.Column{varchar("author"), varchar("note"), bigint("gene")},
	},
	"signed":   {catalog.Declaration{Owner: "user_id", ID: id("id", "plain64")}, []catalog.Column{bigint("id"), bigint("user_id"), varchar("note")}},
	"counters": {catalog.Declaration{Owner: "user_id", ID: id("id", "plain64")}, []catalog.Column{unsigned("id"), bigint("user_id"), varchar("note")}},
	"wide": {
		catalog.Declaration{Owner: "user_id", ID: id("id", "bytes16"), OrderNumber: "no"},
		[]catalog.Column{binary16("id"), binary16("no"), bigint("user_id"), varchar("note")},
	},
	"mixed": {
		catalog.Declaration{Owner: "user_id", ID: overflowing("id", "int64"), OrderNumber: "no"},
		[]catalog.Column{varbinary16("id"), varbinary16("no"), bigint("user_id"), varchar("note")},
	},
	"parts": {
		catalog.Declaration{Parent: overflowing("order_id", "int64"), ID: id("id", "int64")},
		[]catalog.Column{bigint("id"), varbinary16("order_id"), varchar("note")},
	},
	"secrets": {
		catalog.Declaration{Owner: "user_id", ID: &catalog.IDColumn{Column: "id", Layout: "int64", Hidden: true}},
		[]catalog.Column{bigint("id"), bigint("user_id"), varchar("note")},
	},
	"hushed": {
		catalog.Declaration{Parent: id("order_id", "int64"), ID: &catalog.IDColumn{Column: "id", Layout: "int64", Overflow: "bytes16", Hidden: true}},
		[]catalog.Column{varbinary16("id"), bigint("order_id"), varchar("note")},
	},
	"tickets": {
		catalog.Declaration{Owner: "user_id", ID: id("id", "int64"), Stamped: map[string]string{"serial": "serial", "label": "label"}},
		[]catalog.Column{bigint("id"), bigint("user_id"), bigint("serial"), varchar("label"), varchar("note")},
	},
	"numbered": {
		catalog.Declaration{Owner: "user_id", Gene: "gene"},
		[]catalog.Column{{Name: "n", DataType: "bigint", AutoIncrement: true}, bigint("user_id"), varchar("note"), bigint("gene")},
	},
	"items": {
		catalog.Declaration{Parent: id("order_id", "int64"), ID: id("id", "int64"), Version: "odd`name"},
		[]catalog.Column{bigint("id"), bigint("order_id"), varchar("note"), bigint("odd`name")},
	},
}

// fixture is two shards, a key ring and the tables of the schema.
type fixture struct {
	catalog *catalog.Catalog
	m       *router.Map
	ring    *cipher.Ring
	// The map whole divides no gene. In the map divided, s1 owns 3 % of the rows of gene 0x3eab: the rows with the sequences
	// 0, 1, 2, 100, 101 and so on.
	whole, divided *router.Map
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	ring, err := cipher.Parse([]byte("current: 1\nkeys:\n  - version: 1\n    key: 2b7e151628aed2a6abf7158809cf4f3c\n"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := router.New(gene.W16, 1, []router.Entry{{Bound: 0x7fff, Shard: "s0"}, {Bound: 0xbfff, Shard: "s1"}, {Bound: 0xffff, Shard: "s2"}})
	if err != nil {
		t.Fatal(err)
	}
	var tables []*catalog.Table
	for name, s := range schema {
		s.Kind = catalog.Sharded
		table, err := catalog.Resolve(catalog.TableName{Schema: "shop", Name: name}, s.Declaration, s.columns, gene.W16)
		if err != nil {
			t.Fatal(err)
		}
		tables = append(tables, table)
	}
	divided, err := m.Step([]router.Move{{
		Job: "split-1", Genes: gene.NewSet(gene.Range{First: 0x3eab, Last: 0x3eab}), From: "s0", To: "s1", BySequence: true, Share: 3,
	}})
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{catalog: catalog.New(m.Shards(), tables, nil), m: m, ring: ring, whole: m, divided: divided}
}

// counter issues 1, 2, 3 … for every gene, under key version 1 if the column has keys.
type counter struct {
	next map[gene.Gene]uint64
	// narrow is the number of 8-byte IDs in a column of both lengths.
	narrow uint64
	calls  int
	asked  int
}

func (c *counter) Issue(_ context.Context, t *catalog.Table, g gene.Gene, n int) (orderid.Layout, orderid.ID, error) {
	if c.next == nil {
		c.next = map[gene.Gene]uint64{}
	}
	c.calls++
	c.asked += n
	first := c.next[g] + 1
	c.next[g] += uint64(n)
	l := t.Layout
	if !t.Wide.IsZero() && c.next[g] > c.narrow {
		l = t.Wide
	}
	id, err := l.Compose(g&l.GeneWidth().Last(), min(1, l.MaxVersion()), orderid.Seq(first))
	return l, id, err
}

// statement is a planned text.
type statement struct {
	plan   *plan.Stamped
	lexed  stmt.Lexed
	args   stmt.Args
	values plan.Values
}

func (f *fixture) plan(sql string, bound []stmt.Value) (*statement, error) {
	s := &statement{}
	s.lexed.Lex([]byte(sql), 0)
	p, err := plan.Make(&s.lexed, plan.Context{Catalog: f.catalog, Schema: "shop"})
	if err != nil {
		return nil, err
	}
	var ok bool
	if s.plan, ok = p.(*plan.Stamped); !ok {
		return nil, fmt.Errorf("no INSERT into a sharded table: %s", sql)
	}
	s.args.Reset(&s.lexed, bound)
	s.values = plan.Values{Args: &s.args, InsertID: 77}
	return s, nil
}

func (f *fixture) run(s *Stamper, sql string, bound []stmt.Value, ids IDs) (*Result, error) {
	p, err := f.plan(sql, bound)
	if err != nil {
		return nil, err
	}
	made := 0
	s.Make = func(_ context.Context, generator string, genes []gene.Gene) ([]string, error) {
		var texts []string
		for range genes {
			made++
			texts = append(texts, strconv.Itoa(made))
			if generator == "label" {
				texts[len(texts)-1] = fmt.Sprintf("it's %d", made)
			}
		}
		return texts, nil
	}
	if bound != nil {
		return s.StampPrepared(context.Background(), p.plan, &p.values, f.m, ids, func() *cipher.Ring { return f.ring })
	}
	return s.StampText(context.Background(), p.plan, &p.values, f.m, ids, func() *cipher.Ring { return f.ring })
}
