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

// A table that was declared a moment ago, and that the shards have not made yet, is no error in the log.
func TestJustDeclared(t *testing.T) {
	name := func(s string) catalog.TableName { return catalog.TableName{Schema: "shop", Name: s} }
	sharded := catalog.Declaration{Kind: catalog.Sharded}
	old := &cluster.Cluster{Tables: map[catalog.TableName]catalog.Declaration{name("old"): sharded}}
	now := &cluster.Cluster{Tables: map[catalog.TableName]catalog.Declaration{name("old"): sharded, name("new"): sharded, name("outside"): {Kind: catalog.Outside}}}
	missing := &catalog.Misfit{Err: &catalog.MissingTableError{Shards: "s0"}}
	for what, c := range map[string]struct {
		last   *state
		broken map[catalog.TableName]error
		want   bool
	}{
		"new":                   {&state{declared: old}, map[catalog.TableName]error{name("new"): missing, name("outside"): errors.New("outside")}, true},
		"old":                   {&state{declared: old}, map[catalog.TableName]error{name("new"): missing, name("old"): missing}, false},
		"new and of other form": {&state{declared: old}, map[catalog.TableName]error{name("new"): errors.New("columns differ")}, false},
		"at the start":          {nil, map[catalog.TableName]error{name("new"): missing}, false},
	} {
		if got := (&builder{last: c.last}).justDeclared(now, c.broken); got != c.want {
			t.Errorf("%s: %t", what, got)
		}
	}
}
