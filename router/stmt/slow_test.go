package stmt

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// slowLiterals finds the literals and comments of a text so plainly that it
// can't be wrong: at each place it tries one pattern after the other. ok is
// false where the text can't be read to its end, or not for certain.
func slowLiterals(text string, mode Mode) (found []Literal, ok bool) {
	if whole := strings.TrimSuffix(text, "\x00"); !strings.HasSuffix(strings.TrimRight(whole, " \t\n\v\f\r"), ";") {
		text = whole // behind a semicolon the byte is another statement to servers
	}
	params := int32(0)
	for at := 0; at < len(text); {
		n, kind := slowToken(text, at, mode)
		if n < 0 || slowUncertain(text, at, n, kind) {
			return found, false
		}
		if kind != 0 {
			literal := Literal{Start: int32(at), End: int32(at + n), Kind: kind}
			if kind == ParamLiteral {
				literal.Param = params
				params++
			}
			found = append(found, literal)
		}
		at += n
	}
	return found, true
}

const slowName = `[A-Za-z0-9_$\x80-\xff]`

var (
	slowQuotes = regexp.MustCompile(`(?s)\A/\*\+(?:[^'"` + "`" + `]|'[^']*'|"[^"]*"|` + "`[^`]*`" + `)*\*/\z`)
	slowNumber = regexp.MustCompile(`(?i)\A(?:0[xb]|[0-9]*\.|[0-9]+e)`)
)

// slowUncertain reports whether servers might read the n bytes at offset at differently.
func slowUncertain(text string, at, n int, kind LiteralKind) bool {
	piece, part := text[at:at+n], strings.HasSuffix(text[:at], ".")
	switch first := piece[0]; {
	case strings.HasSuffix(text[:at], "--") && (kind == CommentLiteral || strings.HasPrefix(piece, "/*")):
		return true
	case kind == CommentLiteral:
		return strings.Contains(piece, "\x00")
	case kind != 0:
		return false
	case strings.HasPrefix(piece, "/*+"):
		return !slowQuotes.MatchString(latin1(piece)) || strings.ContainsAny(piece, "\x00\\\x7f[") || !slowUTF8(piece)
	case strings.HasPrefix(piece, "/*"):
		return true
	case first == '@' && strings.Trim(piece, "@") == "" && (at+n == len(text) || !strings.Contains("'\"`.", text[at+n:at+n+1])):
		return true
	case !part && n > 1 && slowNumber.MatchString(piece), !part && first == '$' && strings.Count(piece, "$") > 1:
		return true
	case first == ';' && strings.HasSuffix(text[:at], "--"):
		return true
	case first < ' ' && !strings.Contains("\t\n\v\f\r", piece), first == 0x7f, first == '\\', first == '[':
		return true
	}
	return !slowUTF8(piece)
}

// slowUTF8 reports whether s is valid UTF-8 without characters of four bytes.
func slowUTF8(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r > 0xffff })
}

// pattern compiles a regular expression over bytes. Each byte is represented by the rune with the same number.
func pattern(p string) *regexp.Regexp { return regexp.MustCompile(`\A(?:` + p + `)`) }

var slowPatterns = []struct {
	pattern *regexp.Regexp
	kind    LiteralKind
}{
	{pattern(`--[\t\v\f\r ][^\n]*`), CommentLiteral},
	{pattern(`--(\n|\z)`), CommentLiteral},
	{pattern(`#[^\n]*`), CommentLiteral},
	{pattern(`/\*M?!`), 0},
	{pattern(`(?s)/\*\+.*?\*/`), 0},
	{pattern(`(?s)/\*.*?\*/`), CommentLiteral},
	{pattern(`[xX]'[^']*'`), HexLiteral},
	{pattern(`[bB]'[^']*'`), BitLiteral},
	{pattern(`0x[0-9a-fA-F]+`), HexLiteral},
	{pattern(`0b[01]+`), BitLiteral},
	{pattern(`([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)[eE][+-]?[0-9]+`), FloatLiteral},
	{pattern(`[0-9]+\.[0-9]*|\.[0-9]+`), DecimalLiteral},
	{pattern(`[0-9]+`), IntLiteral},
	{pattern(`\?`), ParamLiteral},
}

var (
	slowWord     = pattern(slowName + `+`)
	slowVariable = pattern(`@@?` + slowName + `*`)
	slowPoint    = regexp.MustCompile(`\.\z`)
	slowByItem   = regexp.MustCompile(`(?is)\bby[ \t\r\n\f\v]*\z|,[ \t\r\n\f\v]*\z`)
)

var (
	slowIntroducer = pattern(`(?i:_(binary|utf8mb4|utf8mb3|utf8|latin1|ascii)[ \t\r\n\f\v]*|n)`)
	slowHex        = pattern(`[xX]'[^']*'`)
)

// slowIntroduced returns the length of a string with its introducer, 0 if there is none, and -1 if the string
// has no end.
func slowIntroduced(text string, at int, mode Mode) int {
	n := len([]rune(slowIntroducer.FindString(latin1(text[at:]))))
	rest := text[at+n:]
	national := n == 1
	switch {
	case n == 0 || rest == "" || slowPoint.MatchString(latin1(text[:at])):
		return 0
	case rest[0] == '\'' || rest[0] == '"' && mode&AnsiQuotes == 0 && !national:
		if body := slowQuoted(rest, true, mode); body > 0 {
			return n + body
		}
		return -1
	case national || len(rest) < 2 || strings.IndexByte("xX", rest[0]) < 0 || rest[1] != '\'':
		return 0
	}
	if body := len([]rune(slowHex.FindString(latin1(rest)))); body > 0 {
		return n + body
	}
	return -1
}

func slowToken(text string, at int, mode Mode) (length int, kind LiteralKind) {
	rest, before := latin1(text[at:]), latin1(text[:at])
	if n := slowIntroduced(text, at, mode); n != 0 {
		return n, IntroducedLiteral
	}
	if c := text[at]; strings.IndexByte("'\"`", c) >= 0 {
		n := slowQuoted(text[at:], c == '\'' || c == '"' && mode&AnsiQuotes == 0, mode)
		if c == '`' || c == '"' && mode&AnsiQuotes != 0 {
			return n, 0
		}
		return n, StringLiteral
	}
	if n := len([]rune(slowVariable.FindString(rest))); n > 0 {
		return n, 0
	}
	word := len([]rune(slowWord.FindString(rest)))
	if word > 0 && slowPoint.MatchString(before) {
		return word, 0 // t.1x
	}
	for _, p := range slowPatterns {
		m := p.pattern.FindString(rest)
		if m == "" {
			continue
		}
		n := len([]rune(m))
		if p.kind == 0 {
			return n, 0
		}
		if strings.HasPrefix(m, "--\n") {
			n = 2
		}
		first := text[at]
		if first == '.' && (strings.HasSuffix(before, "`") || strings.HasSuffix(before, `"`) || endsInName(before)) {
			return 1, 0
		}
		if (first >= '0' && first <= '9' || first == '.' && n > 1) && n < len(text)-at && slowWord.MatchString(latin1(text[at+n:])) && p.kind != ParamLiteral {
			return n + len([]rune(slowWord.FindString(latin1(text[at+n:])))), 0 // 1abc is a name
		}
		return n, p.kind
	}
	if strings.HasPrefix(rest, "/*") || word == 1 && len(rest) > 1 && strings.IndexByte("xXbB", text[at]) >= 0 && text[at+1] == '\'' {
		return -1, 0
	}
	if word > 0 {
		return word, 0
	}
	return 1, 0
}

func endsInName(before string) bool {
	r := []rune(before)
	return len(r) > 0 && slowWord.MatchString(string(r[len(r)-1]))
}

func slowQuoted(text string, escapes bool, mode Mode) int {
	quote := text[:1]
	inner := `[^` + quote + `]|` + quote + quote
	if escapes && mode&NoBackslash == 0 {
		inner = `\\.|[^\\` + quote + `]|` + quote + quote
	}
	m := regexp.MustCompile(`(?s)\A` + quote + `(?:` + inner + `)*` + quote).FindString(latin1(text))
	if m == "" {
		return -1
	}
	n := len([]rune(m))
	if n < len(text) && text[n:n+1] == quote { // '' at the end was taken for the end
		return -1
	}
	return n
}

// latin1 makes a rune of every byte.
func latin1(s string) string {
	r := make([]rune, len(s))
	for i := range len(s) {
		r[i] = rune(s[i])
	}
	return string(r)
}
