package stmt

import (
	"fmt"
	"strings"
	"testing"
)

// list writes n items.
func list(n int, sep string, item func(i int) string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = item(i)
	}
	return strings.Join(items, sep)
}

func same(s string) func(int) string { return func(int) string { return s } }

// larger contains texts that a client could make arbitrarily long. n is the number of pieces.
var larger = map[string]func(n int) string{
	"values": func(n int) string {
		return "select count(*) from t where id in (" + list(n, ",", func(i int) string { return fmt.Sprint(i) }) + ")"
	},
	"mixed values": func(n int) string {
		return "select count(*) from t where id in (" + list(n, ", ", same("1, 'a'")) + ")"
	},
	"negative values": func(n int) string { return "select sum(a) from t where id in (" + list(n, ", ", same("-1")) + ")" },
	"expressions":     func(n int) string { return "select sum(a) from t where id in (" + list(n, ", ", same("1 + 1")) + ")" },
	"rows of values": func(n int) string {
		return "select sum(a) from t where (a, b) in (" + list(n, ", ", same("(1, 2)")) + ")"
	},
	"placeholders": func(n int) string { return "select count(?) from t where id in (" + list(n, ", ", same("?")) + ")" },
	"and":          func(n int) string { return "select count(*) from t where " + list(n, " and ", same("a = 1")) },
	"or":           func(n int) string { return "select count(*) from t where " + list(n, " or ", same("a = 1")) },
	"fields":       func(n int) string { return "select " + list(n, ", ", same("1")) + " from t" },
	"aliases":      func(n int) string { return "select " + list(n, ", ", same("'x' as y")) + " from t" },
	"aggregates":   func(n int) string { return "select " + list(n, ", ", same("sum(a + 1)")) + " from t group by b" },
	"order":        func(n int) string { return "select a from t order by " + list(n, ", ", same("a")) },
	"strings":      func(n int) string { return "select 1 from t where a = " + list(n, " ", same("'a'")) },
	"comments": func(n int) string {
		return "select count(*) " + list(n, " ", same("/* x */")) + " from t where a = 'x'"
	},
	"hints": func(n int) string { return "select " + list(n, " ", same("/*+ x */")) + " count(*) from t" },
	"arms":  func(n int) string { return list(n, " union all ", same("select 1")) },
	"common tables": func(n int) string {
		return "with " + list(n, ", ", func(i int) string { return fmt.Sprintf("c%d as (select 1)", i) }) + " select count(*) from t"
	},
	"set": func(n int) string {
		return "set " + list(n, ", ", func(i int) string { return fmt.Sprintf("@a%d = (1 + 'x')", i) })
	},
	"variables": func(n int) string {
		return "select " + list(n, ", ", func(i int) string { return fmt.Sprintf("@a%d := 'x'", i) })
	},
	"own":         func(n int) string { return "select " + list(n, ", ", same("version(), @@version, is_used_lock('x')")) },
	"rows":        func(n int) string { return "insert into t (a, b) values " + list(n, ", ", same("(now(), 1), (1, 2)")) },
	"assignments": func(n int) string { return "update t set " + list(n, ", ", same("a = 'x'")) + " where b = 1" },
	"execute":     func(n int) string { return "execute s using " + list(n, ", ", same("1 + 1")) },
	"semicolons":  func(n int) string { return "select count(*) from t" + strings.Repeat(";", n) },
}

// TestReadingIsLinear: four times the text is at most some five times the work.
func TestReadingIsLinear(t *testing.T) {
	const n = 500
	for name, text := range larger {
		work := func(n int) int {
			l := lexed(text(n), 0)
			if _, err := Parse(l); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			_, _ = FindPlaces(l)
			return l.Looked()
		}
		if few, many := work(n), work(4*n); many > 5*few {
			t.Errorf("%s: %d pieces of text were looked at for %d, and %d for %d", name, few, n, many, 4*n)
		}
	}
}
