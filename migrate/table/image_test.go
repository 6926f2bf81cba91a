package table

import (
	"strings"
	"testing"
)

func TestSumsTellRowsApart(t *testing.T) {
	seen := map[string]int{}
	for i, r := range []Row{nil, {}, {nil}, {{}}, {nil, nil}, {[]byte("a"), []byte("b")}, {[]byte("ab"), {}}, {[]byte("ab"), nil}, {nil, []byte("ab")}, {[]byte("a "), []byte("b")}} {
		if other, is := seen[r.Sum()]; is {
			t.Errorf("rows %d and %d have one sum", other, i)
		}
		seen[r.Sum()] = i
	}
	if Row(nil).Sum() != "" {
		t.Error("no row has a sum")
	}
}

func TestShortValues(t *testing.T) {
	long := strings.Repeat("x", 50_000)
	for _, c := range []struct {
		v, other []byte
		want     string
	}{
		{nil, []byte("a"), "NULL"},
		{[]byte{}, nil, `""`},
		{[]byte("strasse "), []byte("strasse"), `"strasse "`},
		{[]byte(long), nil, `"` + long[:40] + `"… (50000 bytes)`},
		{[]byte(long + "y"), []byte(long + "z"), `…"xxxxxxxxxxy" (from byte 49990 of 50001)`},
		{[]byte("y" + long), []byte("z" + long), `"y` + long[:39] + `"… (50001 bytes)`},
		{[]byte(strings.Repeat("ä", 30)), nil, `"` + strings.Repeat("ä", 20) + `"… (60 bytes)`},
		{[]byte("a" + strings.Repeat("ä", 30)), nil, `"a` + strings.Repeat("ä", 19) + `"… (61 bytes)`},
		{[]byte{0xff, 0}, nil, `"\xff\x00"`},
	} {
		if got := short(c.v, c.other); got != c.want {
			t.Errorf("%.60q: %s, want %s", c.v, got, c.want)
		}
	}
}
