package proxy

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"locus/router/catalog"
	"locus/router/cluster"
)

// TestSettling: statements wait for a table that was declared a moment ago, and for no other table that can't be served.
func TestSettling(t *testing.T) {
	name := func(s string) catalog.TableName { return catalog.TableName{Schema: "shop", Name: s} }
	broken, sharded := errors.New("shard s1 does not have it"), catalog.Declaration{Kind: catalog.Sharded}
	at := func(tables map[catalog.TableName]catalog.Declaration, why map[catalog.TableName]error) *state {
		w := &state{declared: &cluster.Cluster{Tables: tables}}
		w.snapshot.Catalog = catalog.New(nil, nil, why)
		return w
	}
	now := time.Now()
	b := &builder{}
	old := at(map[catalog.TableName]catalog.Declaration{name("old"): sharded}, map[catalog.TableName]error{name("old"): broken})
	if got := b.settling(old, now); got != nil {
		t.Errorf("at the start: %v", got)
	}
	b.last = old
	next := at(map[catalog.TableName]catalog.Declaration{
		name("old"): sharded, name("new"): sharded, name("outside"): {Kind: catalog.Outside}, name("renamed"): sharded,
	}, map[catalog.TableName]error{
		name("old"): broken, name("new"): broken, name("outside"): broken, name("renamed"): &catalog.RenamingError{},
	})
	want := map[catalog.TableName]time.Time{name("new"): now.Add(settleTimeout)}
	if got := b.settling(next, now); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	next.snapshot.Settling = want
	b.last = next
	if got := b.settling(next, now.Add(time.Second)); !reflect.DeepEqual(got, want) {
		t.Errorf("a second later: got %v, want %v", got, want)
	}
}
