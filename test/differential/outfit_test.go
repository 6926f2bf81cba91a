package differential

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"locus/internal/test/servers"
)

// outfit contains settings of both sessions that determine how servers read and compare texts. Statements are
// written accordingly.
type outfit struct {
	charset, collation string
	modes              []string // nil: the server's own
}

func (o *outfit) String() string {
	if o == nil {
		return "the server's own settings"
	}
	return strings.Join(o.statements(), "; ")
}

// statements returns the statements that set the outfit.
func (o *outfit) statements() []string {
	names := "SET NAMES " + o.charset
	if o.collation != "" {
		names += " COLLATE " + o.collation
	}
	if o.modes == nil {
		return []string{names, "SET sql_mode = DEFAULT"}
	}
	return []string{names, "SET sql_mode = '" + strings.Join(o.modes, ",") + "'"}
}

// has reports whether the outfit contains a mode, by itself or as a part of ANSI.
func (o *outfit) has(mode string) bool {
	ansi := mode == "ANSI_QUOTES" || mode == "PIPES_AS_CONCAT" || mode == "IGNORE_SPACE"
	return slices.Contains(o.modes, mode) || ansi && slices.Contains(o.modes, "ANSI")
}

// utf8 reports whether names may contain letters beyond ASCII.
func (o *outfit) utf8() bool { return strings.HasPrefix(o.charset, "utf8") }

var (
	charsets = []string{"utf8mb4", "utf8mb4", "utf8mb4", "utf8mb3", "latin1", "latin1", "latin2", "greek", "koi8r", "cp850", "gb2312", "ujis", "euckr", "binary", "ascii"}

	collations = map[string][]string{
		"utf8mb4": {"", "", "utf8mb4_bin", "utf8mb4_general_ci", "utf8mb4_unicode_ci"},
		"latin1":  {"", "latin1_bin", "latin1_general_cs"},
		"gb2312":  {"", "gb2312_bin"},
	}

	// strict contains sets of modes, of which an outfit has one. reading contains modes, of which it has any
	// number.
	strict  = []string{"", "STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO", "TRADITIONAL"}
	reading = []string{"ANSI_QUOTES", "NO_BACKSLASH_ESCAPES", "PIPES_AS_CONCAT", "HIGH_NOT_PRECEDENCE", "IGNORE_SPACE", "NO_UNSIGNED_SUBTRACTION"}
	other   = []string{"REAL_AS_FLOAT", "ONLY_FULL_GROUP_BY", "ALLOW_INVALID_DATES", "PAD_CHAR_TO_FULL_LENGTH", "NO_AUTO_VALUE_ON_ZERO", "ANSI"}
	ofOne   = map[servers.Engine]string{servers.MySQL: "TIME_TRUNCATE_FRACTIONAL", servers.MariaDB: "TIME_ROUND_FRACTIONAL"}
)

// newOutfit picks one; now and then it is nil: the driver's and the servers' own.
func newOutfit(r *rand.Rand, engine servers.Engine) *outfit {
	one := func(list []string) string { return list[r.IntN(len(list))] }
	if r.IntN(8) == 0 {
		return nil
	}
	o := &outfit{charset: one(charsets)}
	if of := collations[o.charset]; of != nil {
		o.collation = one(of)
	}
	if r.IntN(6) == 0 {
		return o
	}
	o.modes = []string{}
	if s := one(strict); s != "" {
		o.modes = append(o.modes, s)
	}
	for _, m := range reading {
		if r.IntN(3) == 0 {
			o.modes = append(o.modes, m)
		}
	}
	for _, m := range append(slices.Clone(other), ofOne[engine]) {
		if r.IntN(7) == 0 {
			o.modes = append(o.modes, m)
		}
	}
	return o
}

// wear sets an outfit in both sessions.
func (p *pair) wear(o *outfit) {
	p.wears = o
	if o == nil {
		p.proxied, p.direct = p.replaced(p.proxied, p.shop.DB(p.t, nil)), p.replaced(p.direct, p.plain)
		return
	}
	for _, conn := range []*sql.Conn{p.proxied, p.direct} {
		p.dressed(conn)
	}
}

// replaced replaces a lost session by a new one.
func (p *pair) replaced(conn *sql.Conn, db *sql.DB) *sql.Conn {
	p.leave(conn)
	return p.connect(db)
}

func (p *pair) dressed(conn *sql.Conn) {
	if p.wears == nil {
		return
	}
	for _, s := range p.wears.statements() {
		p.exec(conn, s)
	}
}

// alphabet contains how a server encodes letters in a character set.
type alphabet struct {
	p    *pair
	seen map[string]string
}

// in returns a text in a character set, and whether the character set has all of its letters.
func (a *alphabet) in(charset, text string) (string, bool) {
	if charset == "binary" || strings.HasPrefix(charset, "utf8mb4") {
		return text, true
	}
	var b strings.Builder
	whole := true
	for _, r := range text {
		if r < 0x80 {
			b.WriteRune(r)
			continue
		}
		letter := a.letter(charset, string(r))
		whole = whole && letter != ""
		b.WriteString(letter)
	}
	return b.String(), whole
}

// letter returns "" for a letter that the character set doesn't have.
func (a *alphabet) letter(charset, letter string) string {
	key := charset + " " + letter
	if _, ok := a.seen[key]; !ok {
		var there, back string
		query := fmt.Sprintf("SELECT CAST(CONVERT(_utf8mb4 X'%[1]x' USING %[2]s) AS BINARY), CAST(CONVERT(CONVERT(_utf8mb4 X'%[1]x' USING %[2]s) USING utf8mb4) AS BINARY)", letter, charset)
		if err := a.p.plain.QueryRowContext(a.p.t.Context(), query).Scan(&there, &back); err != nil {
			a.p.t.Fatal(err)
		}
		if back != letter {
			there = ""
		}
		a.seen[key] = there
	}
	return a.seen[key]
}
