package table

import "testing"

// TestSameValues: values of one type in the forms of a log and of a server's answer are equal, and no others.
func TestSameValues(t *testing.T) {
	for _, group := range []struct {
		typ    string
		values [][]string // each of one value
	}{
		{"int unsigned zerofill", [][]string{{"0", "000000"}, {"42", "000042"}, {"420"}, {"4294967295"}}},
		{"bigint", [][]string{{"-1"}, {"1"}, {"9223372036854775807"}, {"9223372036854775806"}}},
		{"decimal", [][]string{{"0", "0.00", "-0.00"}, {"12.5", "12.50", "0012.50"}, {"-12.5", "-12.50"}, {"125"}, {"1250"}, {"0.125", ".125"}, {"100", "100.00"}, {"1"}}},
		{"double", [][]string{{"1e-01", "0.1"}, {"0.10000000149011612"}, {"-1e-01"}, {"1e+100"}}},
		{"year", [][]string{{"0000"}, {"2024"}}},
		{"time", [][]string{{"-01:00:00", "-01:00:00.000000", "-01:00:00.0"}, {"01:00:00"}, {"-00:00:00.1", "-00:00:00.100000"}, {"-00:00:00.01"}, {"10:00:00"}, {"10:00:00.10"}}},
		{"datetime", [][]string{{"2024-01-02 03:04:00", "2024-01-02 03:04:00.000"}, {"2024-01-02 03:04:05.6", "2024-01-02 03:04:05.600"}, {"0000-00-00 00:00:00"}, {"2024-01-02 03:04:05"}}},
		{"varchar", [][]string{{"a"}, {"A"}, {"a "}, {""}, {"1"}, {"1.0"}}},
		{"varbinary", [][]string{{"a"}, {"a\x00"}, {""}}},
		{"enum", [][]string{{"0"}, {"1"}, {"10"}}},
		{"json", [][]string{
			{`{"b": 1, "a": [1, 2.5, null]}`, `{"a":[1,2.5,null],"b":1}`, `{"a":[1.0,2.5,null],"b":1e0}`},
			{`{"a":[2.5,1,null],"b":1}`},
			{`{"a":[1,2.5],"b":1}`},
			{`{"a":[1,2.5,null]}`},
			{`{"a":[1,2.5,null],"b":1,"c":null}`},
			{`{"A":[1,2.5,null],"b":1}`},
			{`{"a":[1,2.5,false],"b":1}`},
			{"null"},
			{`"null"`},
			{"0", "-0.0", "0.0"},
			{"false"},
			{`""`},
			{"[]"},
			{"{}"},
			{`"é"`, `"\u00e9"`},
			{`"e"`},
			{"9007199254740993"},
			{"9007199254740992"},
			{"18446744073709551615"},
			{"1e100", "1" + zeros(100), "1" + zeros(100) + ".0"},
			{"1" + zeros(99)},
			{"123456789.12345679"},
			{"123456789.1234568"},
			{"{} {}"},
			{"{"},
			{"[1,2]"},
			{"[2,1]"},
			{`"1"`},
			{"1"},
			{"true"},
		}},
	} {
		c := keyColumn("c", group.typ)
		for i, some := range group.values {
			for j, others := range group.values {
				for _, a := range some {
					for _, b := range others {
						if got := c.same([]byte(a), []byte(b)); got != (i == j) {
							t.Errorf("%s: %q and %q are the same: %v", group.typ, a, b, got)
						}
					}
				}
			}
			if c.same([]byte(some[0]), nil) || c.same(nil, []byte(some[0])) {
				t.Errorf("%s: %q is NULL", group.typ, some[0])
			}
		}
		if !c.same(nil, nil) {
			t.Errorf("%s: NULL is another value than NULL", group.typ)
		}
	}
}

func zeros(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = '0'
	}
	return string(b)
}

// TestSameBesideLoop: only the columns that refer to rows of the same table may differ.
func TestSameBesideLoop(t *testing.T) {
	column := func() []Column {
		return []Column{keyColumn("id", "bigint"), keyColumn("p", "bigint"), keyColumn("x", "int")}
	}
	loop, leaf := &Table{Columns: column()}, &Table{Columns: column()}
	loop.ties.cascades = []*Cascade{{Child: loop, Columns: []int{1}, OnDelete: SetNull}, {Child: leaf, Columns: []int{1}, OnDelete: SetNull}}
	loop.ties.reached = []*Table{loop, leaf}
	row := func(id, p, x string) Row { return Row{[]byte(id), []byte(p), []byte(x)} }
	for _, test := range []struct {
		table *Table
		other Row
		same  bool
	}{
		{loop, row("1", "1", "0"), true},
		{loop, row("1", "2", "0"), true},
		{loop, Row{[]byte("1"), nil, []byte("0")}, true},
		{loop, row("1", "1", "5"), false},
		{loop, row("2", "1", "0"), false},
		{leaf, row("1", "1", "0"), true},
		{leaf, row("1", "2", "0"), false},
	} {
		if got := test.table.SameBesideLoop(row("1", "1", "0"), test.other); got != test.same {
			t.Errorf("loop %v, %q: %v", test.table == loop, test.other, got)
		}
	}
}
