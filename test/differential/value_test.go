package differential

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// value is a literal, and the parameter that may replace it.
type value struct {
	text  string
	param any
	bound bool
}

// unbound returns the value as a literal, also for a prepared statement.
func (v value) unbound() value {
	v.bound = false
	return v
}

// owners and whos are the values that decide where rows live.
var (
	// 0xd870 and 0x5ddf are the genes of the owners 0 and 1.
	owners = []int64{0, 1, -1, 0xd870, 0x5ddf, 2, 7, 42, 10001, 123456789, 1<<53 - 1, 1 << 53, 1<<53 + 1, -(1 << 53) - 1, math.MaxInt64, math.MinInt64}
	whos   = []string{"", "ann", "bob", "Bob", "zoë", "李", "🙂x", "o'hara", "a b", "42", "0", "-1", `back\slash`, "ann  "}
	names  = []string{"Ann", "ann", "BOB", "zoë", "Zoe", "ÄB", "ab", "", "x ", "x", "李雷", "straße", "100", "42abc", "a_b", "a%b"}
)

func quoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(s) + "'"
}

// literal returns a value to compare a column with: mostly the value of a row in its usual form, and sometimes
// in any other form.
func (g *generator) literal(t *table, c column) value {
	held := g.held[t.name+"."+c.name]
	if c.kind == integer || c.kind == decimal || c.kind == double {
		n := strconv.Itoa(g.r.IntN(12) - 2)
		if len(held) > 0 && g.oneIn(5) == false {
			n = pick(g, held)
		} else if c.key {
			n = strconv.FormatInt(pick(g, g.owners), 10)
		}
		if g.oneIn(4) {
			return g.oddNumber(n)
		}
		return g.number(n)
	}
	s := pick(g, names)
	if len(held) > 0 && !g.oneIn(4) {
		s = pick(g, held)
	}
	if g.oneIn(8) {
		return g.oddText(s)
	}
	return g.string(s)
}

// number writes a number in its usual form. Its parameter has one of Go's types.
func (g *generator) number(n string) value {
	v := value{text: n, param: n, bound: true}
	if i, err := strconv.ParseInt(n, 10, 64); err == nil {
		v.param = i
		if i >= 0 && g.oneIn(6) {
			v.param = uint64(i)
		}
		if g.oneIn(10) && i < 1<<53 && i > -1<<53 {
			v.param = float64(i)
		}
		if g.oneIn(10) {
			v.param = n
		}
		if g.oneIn(20) {
			v.param = []byte(n)
		}
		return v
	}
	if u, err := strconv.ParseUint(n, 10, 64); err == nil {
		v.param = u
	} else if f, err := strconv.ParseFloat(n, 64); err == nil && g.oneIn(2) {
		v.param = f
	}
	return v
}

func (g *generator) string(s string) value {
	v := value{text: quoted(s), param: s, bound: true}
	switch {
	case g.oneIn(12) && !strings.ContainsAny(s, `"\`):
		v.text = `"` + s + `"`
	case g.oneIn(12):
		v.param = []byte(s)
	}
	if at, err := time.Parse("2006-01-02", s); err == nil && g.oneIn(2) {
		v.param = at
	}
	return v
}

// oddNumber writes a number in an unusual form.
func (g *generator) oddNumber(n string) value {
	forms := []string{
		quoted(n), n + ".0", n + ".5", quoted(n + ".0"), quoted(" " + n), quoted(n + " "), quoted(n + "abc"), "(" + n + ")",
		"NULL", "TRUE", "FALSE", "9223372036854775807", "9223372036854775808", "18446744073709551615", "-9223372036854775808",
		"-9223372036854775809", "'9223372036854775808'", "'99999999999999999999999'", "1e3", "4.2e1", "'4.2e1'", "0x2A", "X'2A'", "b'101010'", "'0x2A'",
		"0x07", "_utf8mb4'42'", "N'42'", "_binary'42'", "_latin1 '42'", "'4' '2'", "CAST(42 AS SIGNED)", "41+1", "@v42", "@vs", "DATE'2020-02-29'", "''", "'abc'", "- 1", "-(-1)", "+42", "0042", "'0042'", "'-0'", "-0", "0.0", ".5", "42.", "1E0",
		"9007199254740993.0", "9007199254740992.5", "'9007199254740993'", "9007199254740993e0", "LAST_INSERT_ID()", "NULLIF(1,1)",
	}
	v := value{text: pick(g, forms)}
	switch g.r.IntN(8) {
	case 0:
		v.param, v.bound = nil, true
	case 1:
		v.param, v.bound = true, true
	case 2:
		v.param, v.bound = 42.5, true
	case 3:
		v.param, v.bound = n+".0", true
	case 4:
		v.param, v.bound = " "+n, true
	case 5:
		v.param, v.bound = uint64(1<<64-1), true
	}
	return v
}

func (g *generator) oddText(s string) value {
	forms := []string{
		"NULL", "42", "0", "0x" + fmt.Sprintf("%x", "ann"), "X'" + fmt.Sprintf("%x", s) + "'", "_utf8mb4" + quoted(s), "_binary" + quoted(s), "_utf8mb4 X'" + fmt.Sprintf("%x", s) + "'", "'an' 'n'", quoted(s + " "), quoted(strings.ToUpper(s)),
		"_latin1'ann'", "'ann' COLLATE utf8mb4_general_ci", "CONCAT('an','n')", "@vs", `"bo""b"`, "'bo''b'", `'bo\'b'`, `'a\nb'`, "TRUE", "42.0", "'\\%'", "N'ann'",
	}
	if s == "" {
		forms = forms[:3]
	}
	v := value{text: pick(g, forms)}
	switch g.r.IntN(4) {
	case 0:
		v.param, v.bound = nil, true
	case 1:
		v.param, v.bound = int64(42), true
	case 2:
		v.param, v.bound = s+" ", true
	}
	return v
}
