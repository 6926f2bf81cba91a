package catalog

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"locus/router"
)

func TestChanges(t *testing.T) {
	a, b := TableName{"shop", "a"}, TableName{"shop", "b"}
	onS0 := Change{Shards: []router.ShardName{"s0"}, Tables: []TableName{a}}
	onS1 := Change{Shards: []router.ShardName{"s1"}, Tables: []TableName{b}}
	everywhere := Change{Tables: []TableName{b}}
	declared := Change{Declared: true}
	alone := Change{Tables: []TableName{a}, Alone: []TableName{a}}
	for name, c := range map[string]struct{ one, other, want Change }{
		"nothing":                  {Change{}, onS0, onS0},
		"two shards":               {onS0, onS1, Change{Shards: []router.ShardName{"s0", "s1"}, Tables: []TableName{a, b}}},
		"a shard and every shard":  {onS0, everywhere, Change{Tables: []TableName{a, b}}},
		"declarations and a shard": {declared, onS0, Change{Shards: []router.ShardName{"s0"}, Tables: []TableName{a}, Declared: true}},
		"declarations alone":       {declared, declared, declared},
		"everything":               {Anything, declared, Anything},
		"alone in both":            {alone, alone, alone},
		"alone in one":             {alone, onS0, Change{Tables: []TableName{a}}},
		"alone and another table":  {alone, everywhere, Change{Tables: []TableName{a, b}, Alone: []TableName{a}}},
	} {
		for _, got := range []Change{c.one.And(c.other), c.other.And(c.one)} {
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s: %+v, want %+v", name, got, c.want)
			}
		}
	}
	if declared.Empty() || !declared.OnlyDeclared() || declared.And(onS0).OnlyDeclared() || declared.Concerns("s0") || !declared.And(onS0).Concerns("s0") {
		t.Error("a change of declarations is not told from one of shards")
	}
}

// A proxy that doesn't know a kind of change must not ignore it: the change must count as one of everything.
func TestChangesOfLaterKinds(t *testing.T) {
	var known struct {
		Everything bool
		Tables     []TableName
		Routines   []TableName
	}
	text, err := json.Marshal(Change{Declared: true})
	if err != nil || json.Unmarshal(text, &known) != nil || known.Everything || known.Tables != nil || known.Routines != nil {
		t.Errorf("%s means %+v to a proxy that doesn't know it, %v", text, known, err)
	}
}

func TestAmbiguous(t *testing.T) {
	l := &Listing{Programs: []Program{
		{TableName: TableName{"shop", "p"}, Type: "PROCEDURE"}, {TableName: TableName{"Shop", "q"}, Type: "PROCEDURE"},
		{TableName: TableName{"other", "é"}, Type: "FUNCTION"}, {TableName: TableName{"plain", "P"}, Type: "FUNCTION"}, {TableName: TableName{"plain", "é"}, Type: "TRIGGER"},
	}}
	for name, want := range map[TableName]bool{
		{"shop", "p"}: true, {"Shop", "p"}: true, {"other", "e"}: true, {"plain", "p"}: false, {"plain", "new"}: false, {"plain", "ñ"}: true, {"none", "p"}: false,
	} {
		if got := l.Ambiguous([]TableName{name}); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestInvolved(t *testing.T) {
	name := func(n string) TableName { return TableName{"shop", n} }
	l := &Listing{
		Tables:      []ListedTable{{TableName: name("a"), Type: "BASE TABLE"}, {TableName: name("b"), Type: "BASE TABLE"}, {TableName: name("v"), Type: "VIEW", Query: "select `shop`.`a`.`n` from `shop`.`a`"}},
		ForeignKeys: []ForeignKey{{TableName: name("b"), Name: "f", References: name("a"), OnDelete: "RESTRICT"}},
	}
	l.Finish()
	for _, c := range []struct {
		change Change
		want   []TableName
	}{
		{Change{Tables: []TableName{name("a")}}, []TableName{name("a"), name("b"), name("v")}},
		{Change{Tables: []TableName{name("a")}, Alone: []TableName{name("a")}}, []TableName{name("a")}},
		{Change{Tables: []TableName{name("a"), name("c")}, Alone: []TableName{name("c")}}, []TableName{name("a"), name("b"), name("c"), name("v")}},
	} {
		if got := l.Involved(c.change); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v", c.change, got)
		}
	}
}
