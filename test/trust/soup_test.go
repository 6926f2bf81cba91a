package trust

import (
	"math/rand/v2"
	"strings"
)

// soup is a text in pieces: the tokens of a statement that a server accepts, with pieces of all kinds between them or in their
// place. A piece can be removed to shrink the text.
type soup struct {
	pieces []string
}

func (s soup) String() string { return strings.Join(s.pieces, "") }

// cook makes soups.
type cook struct {
	r *rand.Rand
	// ansi: "…" is a name.
	ansi bool
	// utf8: characters beyond ASCII are mostly valid UTF-8.
	utf8 bool
	// answers: names are such as exist, and nothing changes from one answer to the next.
	answers bool
	// calm: so many of a hundred choices are ordinary ones.
	calm int
	s    soup
	// named: a column is named, so that a table must be.
	named bool
}

// wild reports whether the next piece may be unusual.
func (c *cook) wild() bool { return c.r.IntN(100) >= c.calm }

func (c *cook) oneIn(n int) bool { return c.r.IntN(n) == 0 }

func some[T any](c *cook, from []T) T { return from[c.r.IntN(len(from))] }

func (c *cook) soup() soup {
	c.s, c.named = soup{}, false
	c.calm = some(c, []int{90, 96, 98, 99})
	c.lead()
	if !c.answers && c.oneIn(2) {
		c.write()
	} else {
		c.query()
	}
	if c.wild() {
		c.trail()
	}
	return c.s
}

// write is a statement that changes something: servers only read it.
func (c *cook) write() {
	switch c.r.IntN(5) {
	case 0:
		c.words("INSERT", "INTO", "zt")
		c.between()
		c.add("(z1,")
		c.between()
		c.add("z2)")
		c.words("VALUES")
		for i := range 1 + c.r.IntN(3) {
			if i > 0 {
				c.between()
				c.add(",")
			}
			c.between()
			c.add("(")
			c.expression(1)
			c.between()
			c.add(",")
			c.between()
			c.atom()
			c.between()
			c.add(")")
		}
	case 1:
		c.words("UPDATE", "zt", "SET", "z1")
		c.between()
		c.add("=")
		c.between()
		c.expression(2)
		c.words("WHERE")
		c.between()
		c.expression(2)
	case 2:
		c.words("DELETE", "FROM", "zt", "WHERE")
		c.between()
		c.expression(2)
	case 3:
		c.words("SET")
		c.between()
		c.add("@z")
		c.between()
		c.add(some(c, []string{"=", ":="}))
		c.between()
		c.expression(2)
	default:
		c.words("INSERT", "INTO", "zt", "SET", "z1")
		c.add("=")
		c.expression(2)
	}
}

func (c *cook) words(words ...string) {
	for i, w := range words {
		if i > 0 || len(c.s.pieces) > 0 {
			c.between()
		}
		c.add(w)
	}
}

func (c *cook) query() {
	c.word("SELECT")
	if c.answers && c.oneIn(12) {
		c.between()
		c.add(some(c, hints))
	}
	if c.oneIn(12) {
		c.between()
		c.word(some(c, []string{"ALL", "DISTINCT", "SQL_NO_CACHE", "STRAIGHT_JOIN"}))
	}
	for i := range 1 + c.r.IntN(4) {
		if i > 0 {
			c.between()
			c.add(",")
		}
		c.between()
		c.expression(2)
		if c.oneIn(5) {
			c.between()
			c.word("AS")
			c.between()
			c.add(some(c, []string{"z1", "`z`", "a", "'a'", "'a''b'", `"a"`, `"a b"`, "1a", "z$"}))
		}
	}
	if c.named || c.oneIn(3) {
		c.between()
		c.word("FROM")
		c.between()
		c.add(some(c, []string{"zt", "zt", "`zt`", "zt AS zt", "zt/**/zt", "`zt` zt"}))
		if c.oneIn(2) {
			c.between()
			c.word("WHERE")
			c.between()
			c.expression(2)
		}
		if c.oneIn(4) {
			c.between()
			c.word("ORDER")
			c.between()
			c.word("BY")
			c.between()
			c.add(some(c, []string{"1", "z1", "zt.z1", "'z1'", "1+1", "-1", "1e0"}))
		}
	}
	if c.oneIn(6) {
		c.between()
		c.word("LIMIT")
		c.between()
		c.add(some(c, []string{"1", "2", "0x3", "10"}))
	}
}

func (c *cook) add(pieces ...string) { c.s.pieces = append(c.s.pieces, pieces...) }

func (c *cook) word(w string) {
	if c.oneIn(6) {
		w = strings.ToLower(w)
	}
	c.add(w)
}

// lead writes the text before the first word, and trail the text after the last.
func (c *cook) lead() {
	if c.oneIn(4) {
		c.between()
	}
}

func (c *cook) trail() {
	c.add(some(c, []string{";", " ", "--", "-- ", "#", "-- '", "# \"", "/* x */", "--\n", " -- x\n", "\n#'\n", ";;", "; ", "; -- x", "\x00", " \x00", "--\x00", "/*", "/* '", "/*!", "/*!99999 '", "*/"}))
}

// between writes the text between two tokens: mostly blanks.
func (c *cook) between() {
	for {
		n := c.r.IntN(15)
		switch {
		case n < 2:
			c.add(c.comment())
		case n < 4 || !c.wild():
			c.add(some(c, []string{" ", " ", " ", " ", "\t", "\n", "\v", "\f", "\r", "\r\n", "  "}))
		case n < 7:
			c.add(c.comment())
		case n < 10:
			c.add(c.lineComment())
		case n < 12:
			c.add(c.executable())
		case n < 14:
			c.add(string([]byte{byte(c.r.IntN(256))}))
		default:
			return
		}
		if !c.oneIn(6) {
			return
		}
	}
}

// filling are the contents of comments and strings.
var filling = []string{
	"", " ", "x", "a b", "'", `"`, "`", "''", "--", "-- ", "#", "/*", "*", "/", ";", "\\", "\\\\", "\n", "\r", "?", "@", "1", ", 2", " FROM zt ", ")", "(",
	"/*!", "/*!50000", "+", "\x00", "\x1a", "%", "_", "$$", "$x$", "controller:orders", "traceparent='00-1'", "\\'", "\\n", "\\%", "\\Z",
}

func (c *cook) filled(without ...string) string {
	var b strings.Builder
	for range c.r.IntN(3) {
		switch {
		case c.oneIn(10):
			b.WriteString(c.high())
		case c.oneIn(20):
			b.WriteByte(byte(c.r.IntN(0x80)))
		case !c.wild():
			b.WriteString(some(c, filling[:16]))
		default:
			b.WriteString(some(c, filling))
		}
	}
	out := b.String()
	for _, w := range without {
		if !c.wild() {
			out = strings.ReplaceAll(out, w, "")
		}
	}
	return out
}

// high is a letter beyond ASCII.
func (c *cook) high() string {
	if c.utf8 && !c.oneIn(8) {
		return some(c, []string{"ä", "é", "中", "Ω", "\u00a0", "\u2028", "\u3000", "\U0001f600", "\u0085", "\ufeff"})
	}
	return string([]byte{byte(0x80 + c.r.IntN(0x80))})
}

func (c *cook) comment() string {
	if c.oneIn(5) {
		return some(c, []string{"/**/", "/***/", "/*/*/", "/* /* */", "/**/ /**/", "/*'*/", "/*-- */", "/*#*/", "/*\n*/", "/* ! */", "/*\\*/", "/* M! */", "/*m!*/", "/*T! x*/", "/*T![x] y*/"})
	}
	body := c.filled("*/")
	if strings.HasPrefix(body, "!") || strings.HasPrefix(body, "+") || strings.HasPrefix(body, "M!") {
		body = " " + body
	}
	return "/*" + body + "*/"
}

func (c *cook) lineComment() string {
	open := some(c, []string{"#", "# ", "-- ", "--\t", "--\n", "--", "--\r", "--\v", "--\x01", "--\x7f", "--\x80", "--\xa0", "--\x00", "--\x1f", "--1", "---", "--'", "--+ "})
	return open + c.filled("\n") + some(c, []string{"\n", "\n", "\n", "\r\n", "\r"})
}

func (c *cook) executable() string {
	version := some(c, []string{
		"", "", "0", "00000", "1", "32302", "40101", "50000", "50699", "50700", "50701", "080000", "80000", "80030", "80300", "90000", "90700", "90701", "99999",
		"100000", "100100", "100108", "101100", "101101", "110000", "999999", "1000000", "050000", "5070", "507001", "99999x", "50000x", "500001",
	})
	body := some(c, []string{"", " ", "'x'", " ' ", "+ 1", ", 2", "-- x\n", "# x\n", "/* y */", "/*! + 1 */", "/*!99999 x */", "*", "1", "x", ";", "\"", "`", "/**/", "AS z1", "+1", ".5", "e5"})
	space := some(c, []string{"", " ", " ", "\n", "\t"})
	return some(c, []string{"/*!", "/*!", "/*!", "/*M!", "/*m!", "/* !", "/*+!", "/*!!", "/*! !"}) + version + space + body + some(c, []string{"*/", " */", "*/", "**/", "* /", "*/*/"})
}

var names = []string{
	"z1", "z2", "`z1`", "zt.z1", "zt.`z1`", "`zt`.`z1`", "zt . z1", "zt. z2", "zt .z1", "`1a`", "1a", "zt.1a", "zt.1e5", "`z``q`", "z$", "$z", "_z", "zä", "0xg", "1ea", "1e5a", "x", "n", "b",
	"zt.x", "zt.0x41", "zt.n", ".zt.z1", "`z b`", "0b2", "1_", "1$", "2z", "zt.2z",
}

func (c *cook) name() string {
	c.named = true
	if !c.wild() {
		return some(c, []string{"z1", "z2", "`z1`", "zt.z1", "zt.`z1`", "`zt`.`z1`", "zt . z1", "`1a`", "1a", "zt.1a", "zt.1e5", "`z``q`", "z$", "_z", "0xg", "1ea", "x", "n", "b", "`z b`", "2z"})
	}
	if c.oneIn(2) {
		return some(c, names)
	}
	if c.ansi && c.oneIn(4) {
		return some(c, []string{`"z1"`, `"z""q"`, `zt."z1"`, `"zt".z2`, `"z b"`})
	}
	return some(c, []string{"z1", "z2", "zt.z1"})
}

func (c *cook) number() string {
	if !c.wild() {
		return some(c, []string{"1", "2", "0", "10", "255", "1.5", ".5", "1.", "1e5", "1E5", "1e+2", "1e-2", "1.e1", ".5e1", "0x41", "x'41'", "X'41'", "x''", "0b01", "b'1'", "B'01'", "00", "0e0"})
	}
	return some(c, []string{
		"1.5", ".5", "1.", "1e5", "1E5", "1e+2", "1e-2", "1.e1", ".5e1", "1e", "1e+", "0x41", "0X41", "0x", "0x4", "0xg", "0b01", "0B01", "0b2", "x'41'", "X'41'", "x'4'", "x''",
		"b'1'", "B'01'", "b'2'", "b''", "1..2", "1.2.3", "00", "01", "1_0", "x '41'", "18446744073709551615", "18446744073709551616", "1e400", "0.1e", "1.e", "0x41.5", "1a", "5.z1", "0e0", "-.5", "1.5.5",
	})
}

func (c *cook) str() string {
	quote := some(c, []string{"'", "'", "'", `"`})
	intro := ""
	if c.oneIn(6) {
		intro = some(c, []string{"N", "n", "_utf8mb4", "_latin1", "_binary", "_utf8mb4 ", "_latin1 ", "_binary/**/"})
	}
	if c.wild() && c.oneIn(3) {
		intro = some(c, []string{"N", "n", "_utf8mb4", "_latin1", "_binary", "_utf8", "_ucs2", "_utf8mb4 ", "_latin1 ", "_binary/**/", "_utf16", "_koi8r", "_nosuch", "_ascii", "_gbk", "_sjis ", "U&", "E", "x", "b", "_big5", "Q", "DATE ", "TIMESTAMP", "TIME "})
	}
	body := c.filled()
	if !c.wild() {
		body = strings.ReplaceAll(body, quote, quote+quote)
	}
	if !c.wild() && strings.HasSuffix(body, `\`) && !strings.HasSuffix(body, `\\`) {
		body += `\`
	}
	if !c.oneIn(3) { // else it might not end
		body = strings.ReplaceAll(body, `\`, "")
	}
	return intro + quote + body + quote
}

func (c *cook) atom() {
	switch n := c.r.IntN(12); {
	case n < 4:
		c.add(c.number())
	case n < 8:
		c.add(c.str())
		if c.oneIn(4) {
			c.between()
			c.add(c.str())
		}
	case n < 10:
		c.add(c.name())
	case n == 10 && !c.wild():
		c.add(some(c, []string{"NULL", "TRUE", "@z", "@`z`", "@@sql_mode", "z1", "(1)"}))
	case n == 10:
		c.add(some(c, []string{"NULL", "TRUE", "@z", "@`z`", "@'z'", `@"z"`, "@@sql_mode", "@z.z", "@z$", "CURRENT_USER", "\\N", "@@session.sql_mode", "@@`sql_mode`", "DATE'2020-01-01'", "{d '2020-01-01'}", "{d'2020-01-01'}"}))
	default:
		c.add("(")
		c.between()
		c.expression(1)
		c.between()
		c.add(")")
	}
}

var hints = []string{
	"/*+ MAX_EXECUTION_TIME(9999) */", "/*+ NO_SUCH(x) */", "/*+ ' */", "/*+*/", "/*+ BKA(z) */ ", "/*+ QB_NAME(`a`) */", "/*+ QB_NAME(`a*/", "/*+ QB_NAME(`a*/ , 7 -- `) */\n", "/*+ QB_NAME(\"a*/",
	"/*+ QB_NAME('a*/", "/*+ SET_VAR(sort_buffer_size='*/ , 7 -- ') */\n", "/*+ /* */", "/*+ x */ */", "/*+ -- */", "/*+ # */", "/*+ ` */ `) */", "/*+ \" */ , \" */", "/*+ 1a 0x 1e5 `` */",
	"/*+ /*! */", "/*+ /*!99999 */ */", "/*+\x00*/", "/*+ \x7f */", "/*+ QB_NAME(ä) */",
}

var operators = []string{"+", "-", "*", "/", "%", "||", "|", "&", "&&", "^", "=", "<", ">", "<=", ">=", "<>", "!=", "<=>", "<<", ">>", "--", "---", "- --", " AND ", " OR ", " XOR ", " DIV ", " MOD ", " LIKE ", " REGEXP ", "--", "- -", "-+", "!", ".", "->", "/ *", "* /", " COLLATE "}

func (c *cook) expression(depth int) {
	for c.oneIn(8) && c.wild() {
		c.add(some(c, []string{"-", "+", "~", "!", "NOT ", "- ", "--", "BINARY ", "@zv:="}))
		c.between()
	}
	switch {
	case depth > 0 && c.oneIn(6):
		c.call(depth)
	case depth > 0 && c.oneIn(10):
		c.word("CASE")
		c.between()
		c.word("WHEN")
		c.between()
		c.expression(depth - 1)
		c.between()
		c.word("THEN")
		c.between()
		c.atom()
		c.between()
		c.word("END")
	case depth > 0 && c.oneIn(8):
		c.atom()
		c.between()
		c.word("IN")
		c.between()
		c.add("(")
		for i := range 1 + c.r.IntN(4) {
			if i > 0 {
				c.add(",")
			}
			c.between()
			c.atom()
		}
		c.between()
		c.add(")")
	default:
		c.atom()
	}
	for depth > 0 && c.oneIn(3) {
		c.between()
		if c.wild() {
			c.add(some(c, operators))
		} else {
			c.add(some(c, operators[:20]))
		}
		c.between()
		c.atom()
	}
}

func (c *cook) call(depth int) {
	c.add(some(c, []string{"CONCAT", "CONCAT", "COALESCE", "MAKE_SET", "concat", "CONCAT_WS"}))
	if c.wild() {
		c.between()
	}
	c.add("(")
	for i := range 2 + c.r.IntN(2) {
		if i > 0 {
			c.add(",")
		}
		c.between()
		c.expression(depth - 1)
	}
	c.between()
	c.add(")")
}
