package catalog

import (
	"reflect"
	"testing"

	"locus/router"
)

// TestEqualComparesEveryField changes each exported field of each kind of entry. So Equal can't omit a field that is added later.
func TestEqualComparesEveryField(t *testing.T) {
	one := func() *Listing {
		return &Listing{Tables: make([]ListedTable, 1), Programs: make([]Program, 1), ForeignKeys: make([]ForeignKey, 1)}
	}
	if !one().Equal(one()) {
		t.Error("two listings of the same are not equal")
	}
	for kind, entry := range map[string]func(*Listing) any{
		"table":       func(l *Listing) any { return &l.Tables[0] },
		"program":     func(l *Listing) any { return &l.Programs[0] },
		"foreign key": func(l *Listing) any { return &l.ForeignKeys[0] },
	} {
		for _, field := range reflect.VisibleFields(reflect.TypeOf(entry(one())).Elem()) {
			if !field.IsExported() || field.Anonymous {
				continue
			}
			l := one()
			change(t, reflect.ValueOf(entry(l)).Elem().FieldByIndex(field.Index))
			if one().Equal(l) {
				t.Errorf("Equal ignores %s of a %s", field.Name, kind)
			}
		}
	}
}

// change sets a field to a value other than zero.
func change(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Struct:
		change(t, v.Field(0))
	default:
		t.Fatalf("a field is a %s", v.Kind())
	}
}

// TestTextsMentionLaterTables adds and removes tables that views and routines mention. It expects the same result as for a listing that was
// read as a whole.
func TestTextsMentionLaterTables(t *testing.T) {
	base := func(schema, name string) ListedTable {
		return ListedTable{TableName: TableName{schema, name}, Type: "BASE TABLE"}
	}
	v := ListedTable{TableName: TableName{"shop", "v"}, Type: "VIEW", Query: "SELECT a FROM `shop`.`Later` JOIN `other`.`t-1`"}
	p := Program{TableName: TableName{"shop", "p"}, Type: "PROCEDURE", Body: "DELETE FROM later"}
	steps := []struct {
		name   string
		add    []ListedTable
		remove []TableName
	}{
		{"neither", nil, nil},
		{"one", []ListedTable{base("shop", "later")}, nil},
		{"both", []ListedTable{base("other", "t-1"), base("shop", "t-1")}, nil},
		{"the other", nil, []TableName{{"shop", "later"}}},
		{"both again", []ListedTable{base("shop", "later")}, nil},
	}
	l := &Listing{Tables: []ListedTable{v}, Programs: []Program{p}}
	l.Finish()
	for _, step := range steps {
		next := l.Without(step.remove, nil)
		next.Tables = append(next.Tables, step.add...)
		next.Finish()
		whole := &Listing{Programs: []Program{p}}
		for _, table := range next.Tables {
			whole.Tables = append(whole.Tables, ListedTable{TableName: table.TableName, Type: table.Type, Query: table.Query})
		}
		whole.Finish()
		if got, want := leadsTo(next), leadsTo(whole); !reflect.DeepEqual(got, want) {
			t.Errorf("with %s: %v, as a whole %v", step.name, got, want)
		}
		l = next
	}
}

// leadsTo returns, for each base table, whether the programs and the views of the listing reach it.
func leadsTo(l *Listing) map[string]bool {
	leads := map[string]bool{}
	for i := range l.Tables {
		t := &l.Tables[i]
		if !t.Base() {
			continue
		}
		broken := map[TableName]error{t.TableName: &MissingTableError{}}
		c := NewListed([]router.ShardName{"s0"}, nil, broken, map[router.ShardName]*Listing{"s0": l})
		for _, o := range c.closed.reach["s0"].all {
			switch {
			case o.program != nil:
				leads["p to "+t.String()] = o.read.far != ""
			case !o.table.Base():
				leads["v to "+t.String()] = o.read.far != ""
			}
		}
	}
	return leads
}
