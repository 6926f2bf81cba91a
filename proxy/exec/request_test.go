package exec

import (
	"context"
	"errors"
	"testing"
	"time"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/proxy/backend"
	"locus/proxy/stamp"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// asking is a request of a session with three shards, of which s2 has no genes.
type asking struct {
	*Request
	*stand
	plan  plan.Plan
	asked []router.ShardName
	// issued are the batches that were stamped: each of its rows goes to both shards with genes.
	issued   int
	unissued error
}

// Part implements Session.
func (a *asking) Part(p plan.Plan, _ *plan.Values) Several {
	all := a.Several
	_, all.Copies = p.(*plan.Global)
	all.Clock, all.Vars = p.About().Clock, a.Vars
	return all
}

// Stamp implements Session: every batch has an ID, and goes to both shards.
func (a *asking) Stamp(_ *plan.Stamped, v *plan.Values) (*stamp.Result, error) {
	if a.unissued != nil {
		return nil, a.unissued
	}
	a.issued++
	id := orderid.ID{Lo: uint64(100 * a.issued)}
	return &stamp.Result{
		Shards:  []stamp.ShardText{{Shard: 0, Text: v.Text}, {Shard: 1, Text: v.Text}},
		FirstID: id, HasID: true, CountFrom: id.Lo,
	}, nil
}

// Asked implements Observer.
func (a *asking) Asked(shard router.ShardName) { a.asked = append(a.asked, shard) }

// Sent implements Observer.
func (a *asking) Sent(txn.Lease) {}

// Warned implements Observer.
func (a *asking) Warned(l txn.Lease) { a.stand.of.Warned(l) }

// request plans a statement.
func (s *stand) request(text string, params ...wire.Param) *asking {
	s.t.Helper()
	a := &asking{stand: s}
	m, c := testMap(s.t), testCatalog(s.t)
	lexed := new(stmt.Lexed)
	lexed.Lex([]byte(text), 0)
	var err error
	if a.plan, err = plan.Make(lexed, plan.Context{Catalog: c, Schema: "shop"}); err != nil {
		s.t.Fatal(err)
	}
	args := new(stmt.Args)
	var bound []stmt.Value
	for _, p := range params {
		bound = append(bound, Value(p))
	}
	args.Reset(lexed, bound)
	s.client.Values.Settings = backend.Default.WithDatabase("shop")
	a.Request = &Request{
		Session: a, Context: context.Background(), Conns: s.Conns,
		Vars:  &s.client.Values,
		Facts: a.plan.About(), Values: &plan.Values{Args: args}, Params: params, Map: m, Catalog: c, Schema: "shop",
	}
	return a
}

func testMap(t testing.TB) *router.Map {
	t.Helper()
	m, err := router.New(gene.W16, 1, []router.Entry{{Bound: 0x7fff, Shard: "s0"}, {Bound: 0xffff, Shard: "s1"}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func testCatalog(t testing.TB) *catalog.Catalog {
	t.Helper()
	bigint := func(name string) catalog.Column { return catalog.Column{Name: name, DataType: "bigint"} }
	var tables []*catalog.Table
	for name, d := range map[string]catalog.Declaration{
		"orders":  {Kind: catalog.Sharded, Owner: "buyer", ID: &catalog.IDColumn{Column: "id", Layout: "int64"}},
		"country": {Kind: catalog.Global},
		"setting": {Kind: catalog.Single, Shard: "s2"},
		"report":  {Kind: catalog.Single, Shard: "s0"},
	} {
		table, err := catalog.Resolve(catalog.TableName{Schema: "shop", Name: name}, d, []catalog.Column{bigint("id"), bigint("buyer"), bigint("amount")}, gene.W16)
		if err != nil {
			t.Fatal(err)
		}
		tables = append(tables, table)
	}
	return catalog.New([]router.ShardName{"s0", "s1", "s2"}, tables, nil)
}

// A shard is asked apart from the transaction, and the connection is given back whatever it says.
func TestAsk(t *testing.T) {
	s := newStand(t)
	s.begin()
	a := s.request("SELECT 1")
	s.shards["s0"].Next(rows("7"))
	got, err := a.Ask("s0", backend.Default, "SELECT a")
	if err != nil || len(got.Rows) != 1 || len(a.asked) != 1 || !s.Conns.Running() {
		t.Errorf("%+v, %v, asked %v, running is %t", got, err, a.asked, s.Conns.Running())
	}
	for _, reply := range failures("SELECT") {
		s.shards["s0"].Next(reply)
		if _, err := a.Ask("s0", backend.Default, "SELECT a"); !failed(err) || !s.Conns.Running() {
			t.Errorf("%+v: %v, running is %t", reply, err, s.Conns.Running())
		}
	}
	if _, err := a.Ask("nowhere", backend.Default, "SELECT a"); err == nil {
		t.Error("a shard that is not there has answered")
	}
}

// A shard is there if it answers, outside of whatever the session has there.
func TestReach(t *testing.T) {
	s := newStand(t)
	s.begin()
	a := s.request("SELECT 1")
	if err := a.Reach("s0", time.Minute); err != nil {
		t.Error(err)
	}
	for _, reply := range failures("DO 0") {
		s.shards["s0"].Next(reply)
		if err := a.Reach("s0", time.Minute); !failed(err) || !s.Conns.Running() {
			t.Errorf("%+v: %v, running is %t", reply, err, s.Conns.Running())
		}
	}
	if err := a.Reach("s0", 0); !errors.Is(err, errNoAnswer) {
		t.Error(err)
	}
	if err := a.Reach("nowhere", time.Minute); err == nil {
		t.Error("a shard that is not there has answered")
	}
}
