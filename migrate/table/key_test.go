package table

import (
	"strings"
	"testing"
)

// keyColumn returns a column of a type that the key tests name.
func keyColumn(name, typ string) Column {
	c := Column{FullType: typ}
	c.Name = name
	words := strings.Fields(typ)
	c.DataType = words[0]
	c.classify("mysql")
	for _, w := range words[1:] {
		switch w {
		case "null":
			c.Nullable = true
		case "virtual":
			c.Generated, c.virtual = true, true
		case "stored":
			c.Generated = true
		case "long":
			c.Length = 200
		}
	}
	return c
}

func TestRowKey(t *testing.T) {
	columns := []Column{
		keyColumn("id", "bigint"), keyColumn("owner", "bigint"), keyColumn("maybe", "bigint null"), keyColumn("v", "bigint virtual"),
		keyColumn("s", "bigint stored"), keyColumn("f", "double"), keyColumn("text", "text"), keyColumn("name", "varchar long"), keyColumn("e", "enum"),
	}
	index := func(name string, columns ...int) Index { return Index{Name: name, Columns: columns} }
	unused := index("a", 0)
	unused.unused = true
	for _, test := range []struct {
		what   string
		unique []Index
		want   string // the error begins with "!"
	}{
		{"the primary key, though another is smaller", []Index{index("a", 0), index(Primary, 0, 1)}, Primary},
		{"a primary key of a part", []Index{index("a", 0), index(Primary, -1)}, "!the primary key has a part"},
		{"a primary key without an order", []Index{index("a", 0), index(Primary, 5)}, "!column f of the primary key"},
		{"the only one", []Index{index("a", 0)}, "a"},
		{"the fewest columns", []Index{index("a", 0, 1), index("b", 0)}, "b"},
		{"the shortest values", []Index{index("a", 7), index("b", 0)}, "b"},
		{"the first by name", []Index{index("b", 1), index("a", 0), index("c", 1)}, "a"},
		{"not a nullable one", []Index{index("a", 2), index("b", 0, 1)}, "b"},
		{"not one with a nullable column", []Index{index("a", 0, 2), index("b", 0, 1, 4)}, "b"},
		{"not a virtual one", []Index{index("a", 3), index("b", 0, 1)}, "b"},
		{"a stored one", []Index{index("a", 4)}, "a"},
		{"not a part or an expression", []Index{index("a", -1), index("b", 0, 1)}, "b"},
		{"not one without an order", []Index{index("a", 5), index("b", 8), index("c", 0, 1)}, "c"},
		{"not a long text, which is hashed", []Index{index("a", 6), index("b", 0, 1)}, "b"},
		{"not one that statements can't use", []Index{unused, index("b", 0, 1)}, "b"},
		{"none", []Index{index("a", 2), index("b", -1)}, "!it has no primary key, and no unique key"},
		{"nothing", nil, "!it has no primary key, and no unique key"},
	} {
		key, others, err := rowKey(columns, test.unique)
		if text, fails := strings.CutPrefix(test.want, "!"); fails {
			if err == nil || !strings.HasPrefix(err.Error(), text) {
				t.Errorf("%s: %v (%v), want %s", test.what, key, err, text)
			}
			continue
		}
		if err != nil || key.Name != test.want || len(others) != len(test.unique)-1 {
			t.Errorf("%s: %v and %d others (%v), want %s", test.what, key, len(others), err, test.want)
		}
	}
}
