package exec

import (
	"errors"
	"slices"
	"testing"
	"time"

	"locus/idgen/gene"
	"locus/proxy/backend"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// asking is a request of a session with three shards, of which s2 has no genes.
type asking struct {
	*Execution
	*stand
}

// request returns the request for a statement.
func (s *stand) request(text string, params ...wire.Param) *asking {
	s.t.Helper()
	r := s.execution(text, params...).clone()
	r.Params = params
	return &asking{Execution: r, stand: s}
}

// statementOf plans a text that a session may send.
func statementOf(t testing.TB, text string) (plan.Plan, *stmt.Lexed) {
	t.Helper()
	lexed := new(stmt.Lexed)
	lexed.Lex([]byte(text), 0)
	p, err := plan.Make(lexed, plan.Context{Catalog: testCatalog(t), Schema: "shop"})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p, lexed
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
		if name == "orders" {
			table.Unique = []catalog.UniqueKey{{Name: "PRIMARY", Columns: []int{0}}}
		}
		tables = append(tables, table)
	}
	return catalog.New([]router.ShardName{"s0", "s1", "s2"}, tables, nil)
}

// TestAsk: Ask doesn't use the transaction's connection, and gives its connection back after any answer.
func TestAsk(t *testing.T) {
	s := newStand(t)
	s.begin()
	a := s.request("SELECT 1")
	s.Observer.BeginStatement()
	s.Observer.Read(a.Values.Lexed)
	s.shards["s0"].Next(rows("7"))
	got, err := a.ask("s0", 0, backend.Default, "SELECT a")
	if err != nil || len(got.Rows) != 1 || !s.Conns.Running() {
		t.Errorf("%+v, %v, running is %t", got, err, s.Conns.Running())
	}
	if asked := s.asked(); !slices.Equal(asked, []string{"s0"}) {
		t.Errorf("asked %v", asked)
	}
	for _, reply := range failures("SELECT") {
		s.shards["s0"].Next(reply)
		if _, err := a.ask("s0", 0, backend.Default, "SELECT a"); !failed(err) || !s.Conns.Running() {
			t.Errorf("%+v: %v, running is %t", reply, err, s.Conns.Running())
		}
	}
	if _, err := a.ask("nowhere", 0, backend.Default, "SELECT a"); err == nil {
		t.Error("a shard that is not there has answered")
	}
}

// TestReach: a shard is reachable if it answers on a connection that is not the session's.
func TestReach(t *testing.T) {
	s := newStand(t)
	s.begin()
	a := s.request("SELECT 1")
	if err := a.Conns.Reach("s0", 0, a.Vars.Settings, time.Minute); err != nil {
		t.Error(err)
	}
	for _, reply := range failures("DO 0") {
		s.shards["s0"].Next(reply)
		if err := a.Conns.Reach("s0", 0, a.Vars.Settings, time.Minute); !failed(err) || !s.Conns.Running() {
			t.Errorf("%+v: %v, running is %t", reply, err, s.Conns.Running())
		}
	}
	if err := a.Conns.Reach("s0", 0, a.Vars.Settings, 0); !errors.Is(err, txn.ErrNoAnswer) {
		t.Error(err)
	}
	if err := a.Conns.Reach("nowhere", 0, a.Vars.Settings, time.Minute); err == nil {
		t.Error("a shard that is not there has answered")
	}
}
