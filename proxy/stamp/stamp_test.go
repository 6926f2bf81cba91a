package stamp

import (
	"context"
	"errors"
	"strings"
	"testing"

	"locus/idgen/cipher"
	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

func geneOf(n uint64) gene.Gene { return gene.Gene(n) }

func TestNoKeyRing(t *testing.T) {
	f := newFixture(t)
	f.ring = nil
	var s Stamper
	_, err := f.run(&s, "insert into orders (user_id) values (1)", nil, &counter{})
	if err == nil || !strings.Contains(err.Error(), "key_ring") || !strings.Contains(err.Error(), "shop.orders") {
		t.Error(err)
	}
	if _, err := f.run(&s, "insert into signed (user_id) values (1)", nil, &counter{}); err != nil {
		t.Error("a table without order numbers:", err)
	}
}

// An ID under a key that the ring doesn't have can't be given a number.
func TestUnknownKeyVersion(t *testing.T) {
	f := newFixture(t)
	l, _ := orderid.ByName("int64")
	id, _ := l.Compose(gene.OfInt(42, gene.W16), 9, orderid.Seq(1))
	var s Stamper
	_, err := f.run(&s, "insert into orders (id, user_id) values ("+id.String()+", 42)", nil, &counter{})
	if r, ok := errors.AsType[*plan.Refusal](err); !ok || r.Code != plan.NumberMismatch || !strings.Contains(err.Error(), "version 9") {
		t.Error(err)
	}
}

var errIssue = errors.New("no numbers left")

type failing struct{}

func (failing) Issue(context.Context, *catalog.Table, gene.Gene, int) (orderid.Layout, orderid.ID, error) {
	return orderid.Layout{}, orderid.ID{}, errIssue
}

type foreign struct{}

func (foreign) Issue(_ context.Context, t *catalog.Table, g gene.Gene, _ int) (orderid.Layout, orderid.ID, error) {
	id, err := t.Layout.Compose(g^1, 0, orderid.Seq(1))
	return t.Layout, id, err
}

func TestIssuerFails(t *testing.T) {
	f := newFixture(t)
	var s Stamper
	if _, err := f.run(&s, "insert into signed (user_id) values (1)", nil, failing{}); !errors.Is(err, errIssue) {
		t.Error(err)
	}
	if _, err := f.run(&s, "insert into signed (user_id) values (1)", nil, foreign{}); err == nil {
		t.Error("an ID of another gene was taken")
	}
}

// A refused statement consumes no ID.
func TestRefusedBeforeIssued(t *testing.T) {
	f := newFixture(t)
	var s Stamper
	for _, sql := range []string{
		"insert into orders (user_id, note) values (1, 'a'), (2)",
		"insert into orders (user_id, note) values (1, 'a'), (NULL, 'b')",
		"insert into orders (id, user_id) values (NULL, 1), (5, 1)",
		"insert into orders (no, user_id) values (NULL, 1), (5, 1)",
	} {
		var c counter
		_, err := f.run(&s, sql, nil, &c)
		if _, ok := errors.AsType[*plan.Refusal](err); !ok || c.calls > 0 {
			t.Errorf("%s: %v, %d calls", sql, err, c.calls)
		}
	}
}

// One call for each gene, whatever the order of the rows.
func TestOneCallPerGene(t *testing.T) {
	f := newFixture(t)
	var s Stamper
	var c counter
	r, err := f.run(&s, "insert into signed (user_id) values (1), (2), (1), (3), (2), (1)", nil, &c)
	if err != nil || c.calls != 3 || c.asked != 6 || r.Generated != 6 || len(r.Genes) != 6 || !r.HasID {
		t.Errorf("%v, %+v, %+v", err, c, r)
	}
}

func TestRelease(t *testing.T) {
	f := newFixture(t)
	var s Stamper
	long := "insert into signed (user_id, note) values (1, '" + strings.Repeat("x", 100<<10) + "')"
	if _, err := f.run(&s, long, nil, &counter{}); err != nil {
		t.Fatal(err)
	}
	s.Release()
	if cap(s.out.text) > keep {
		t.Errorf("%d bytes are kept", cap(s.out.text))
	}
	if _, err := f.run(&s, "insert into signed (user_id) values (1)", nil, &counter{}); err != nil {
		t.Error(err)
	}
}

// constant issues the same ID over and over, without allocating.
type constant struct{ id orderid.ID }

func (c *constant) Issue(_ context.Context, t *catalog.Table, _ gene.Gene, _ int) (orderid.Layout, orderid.ID, error) {
	return t.Layout, c.id, nil
}

func hot(t testing.TB, sql string, bound []stmt.Value) (stampOnce func()) {
	f := newFixture(t)
	p, err := f.plan(sql, bound)
	if err != nil {
		t.Fatal(err)
	}
	var c counter
	_, id, _ := c.Issue(context.Background(), p.plan.Insert.Table, gene.OfInt(42, gene.W16), 1)
	ids, ring := &constant{id}, new(cipher.Ring)
	*ring = *f.ring
	var s Stamper
	ctx := context.Background()
	return func() {
		p.args.Reset(&p.lexed, bound)
		var err error
		if bound != nil {
			_, err = s.StampPrepared(ctx, p.plan, &p.values, f.m, ids, func() *cipher.Ring { return ring })
		} else {
			_, err = s.StampText(ctx, p.plan, &p.values, f.m, ids, func() *cipher.Ring { return ring })
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

const hotText = "insert into orders (user_id, note) values (42, 'something of ordinary length')"

var hotBound = []stmt.Value{stmt.IntValue(42), {Kind: stmt.String, Text: []byte("x")}}

func TestStampingDoesNotAllocate(t *testing.T) {
	for sql, bound := range map[string][]stmt.Value{hotText: nil, "insert into orders (user_id, note) values (?, ?)": hotBound} {
		once := hot(t, sql, bound)
		if n := testing.AllocsPerRun(100, once); n != 0 {
			t.Errorf("%s: %v allocations", sql, n)
		}
	}
}

func BenchmarkStampInsert(b *testing.B) {
	for name, bound := range map[string][]stmt.Value{"text": nil, "prepared": hotBound} {
		sql := hotText
		if bound != nil {
			sql = "insert into orders (user_id, note) values (?, ?)"
		}
		b.Run(name, func(b *testing.B) {
			once := hot(b, sql, bound)
			b.ReportAllocs()
			for b.Loop() {
				once()
			}
		})
	}
}
