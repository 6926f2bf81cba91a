package generators_test

import (
	"reflect"
	"testing"

	"locus/control/generators"
	"locus/router/catalog"
	"locus/router/cluster"
	"locus/router/endpoint"
)

// Tables with a Redis in front of their counters come after the generators. A generator or table that no proxy
// has used has no state.
func TestStandings(t *testing.T) {
	buffered := &catalog.IDColumn{}
	buffered.Segments.Redis = &endpoint.Redis{}
	c := &cluster.Cluster{
		Generators: map[string]cluster.Generator{"bill": {Kind: "snowflake"}, "all": {Kind: "ha", Of: []string{"bill"}}},
		Tables: map[catalog.TableName]catalog.Declaration{
			{Schema: "shop", Name: "orders"}: {ID: buffered},
			{Schema: "shop", Name: "notes"}:  {ID: &catalog.IDColumn{}},
		},
	}
	bill, orders := generators.Report{Name: "bill", Loads: 3}, generators.Report{Name: "shop.orders", Waits: 1}
	want := []generators.Standing{
		{"all", "ha", []string{"bill"}, []generators.StandingIn{}},
		{"bill", "snowflake", nil, []generators.StandingIn{{"p1", bill}, {"p2", bill}}},
		{"shop.orders", "table", nil, []generators.StandingIn{{"p2", orders}}},
	}
	if got := generators.Standings(c, map[string][]generators.Report{"p2": {orders, bill}, "p1": {bill}}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}
