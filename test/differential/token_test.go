package differential

import "strings"

// token is a piece of a statement as generators write it: in UTF-8, for the default
// SQL mode.
type token struct {
	kind  tokenKind
	gap   string // blanks and comments before it
	text  string // as it is written
	value string // value of a string or a quoted name
	aside bool   // only for the plain server
}

type tokenKind uint8

const (
	bareWord tokenKind = iota
	numeral
	quotedText
	quotedName
	rawText // a string with its prefix, which no session's settings change
	sign
)

// signs are the operators of several characters.
var signs = []string{"<=>", "<<", ">>", "<=", ">=", "<>", "!=", "||", "&&", ":="}

// tokensOf splits a statement into tokens. It supports the syntax that the generators write, and is independent of the proxy's
// lexer.
func tokensOf(text string) (out []token, tail string) {
	at, aside := 0, false
	for {
		from := at
		at = skipGap(text, at)
		if at == len(text) {
			return out, text[from:]
		}
		if text[at] == asideBegins || text[at] == asideEnds {
			aside = text[at] == asideBegins
			at++
			continue
		}
		t := token{gap: text[from:at], aside: aside}
		end := t.read(text, at)
		t.text = text[at:end]
		out, at = append(out, t), end
	}
}

func skipGap(text string, at int) int {
	for at < len(text) {
		rest := text[at:]
		switch {
		case strings.ContainsRune(" \t\n\r\v\f", rune(rest[0])):
			at++
		case strings.HasPrefix(rest, "/*"):
			at += strings.Index(rest, "*/") + 2
		case rest[0] == '#', strings.HasPrefix(rest, "-- "):
			at += (strings.Index(rest+"\n", "\n") + 1)
		default:
			return at
		}
	}
	return len(text)
}

// read reads the token at an offset, and returns its end.
func (t *token) read(text string, at int) int {
	c := text[at]
	switch {
	case c == '\'' || c == '"':
		t.kind = quotedText
		return t.quoted(text, at)
	case c == '`':
		t.kind = quotedName
		return t.quoted(text, at)
	case c == '@':
		return wordEnd(text, at+1)
	case c >= '0' && c <= '9', c == '.' && at+1 < len(text) && text[at+1] >= '0' && text[at+1] <= '9':
		t.kind = numeral
		return numeralEnd(text, at)
	case inWord(c):
		return t.word(text, at)
	}
	t.kind = sign
	for _, s := range signs {
		if strings.HasPrefix(text[at:], s) {
			return at + len(s)
		}
	}
	return at + 1
}

// word reads a name or keyword, or a string that begins with letters: an introducer's
// or a national one's bytes mean the same in every session.
func (t *token) word(text string, at int) int {
	end := wordEnd(text, at)
	prefix := text[at:end]
	quote := end + len(text[end:]) - len(strings.TrimLeft(text[end:], " "))
	prefixes := strings.HasPrefix(prefix, "_") || end == quote && strings.Contains("|X|x|N|n|B|b|", "|"+prefix+"|")
	if prefixes && quote < len(text) && text[quote] == '\'' {
		t.kind = rawText
		return t.quoted(text, quote)
	}
	if prefix[0] == '_' && strings.HasPrefix(text[quote:], "X'") {
		t.kind = rawText
		return t.quoted(text, quote+1)
	}
	return end
}

func inWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func wordEnd(text string, at int) int {
	for at < len(text) && inWord(text[at]) {
		at++
	}
	return at
}

func numeralEnd(text string, at int) int {
	for at < len(text) && (inWord(text[at]) || text[at] == '.' || (text[at] == '+' || text[at] == '-') && (text[at-1]|0x20) == 'e' && !strings.HasPrefix(text, "0x")) {
		at++
	}
	return at
}

// quoted reads a text between quotes. In strings a backslash is an escape.
func (t *token) quoted(text string, at int) int {
	quote := text[at]
	var value strings.Builder
	for at++; ; at++ {
		if at == len(text) { // it doesn't end
			t.kind = rawText
			return at
		}
		c := text[at]
		switch {
		case c == quote && at+1 < len(text) && text[at+1] == quote:
			at++
		case c == quote:
			t.value = value.String()
			return at + 1
		case c == '\\' && quote != '`':
			if at++; at == len(text) {
				t.kind = rawText
				return at
			}
			c = text[at]
			switch c {
			case 'n':
				c = '\n'
			case '%', '_':
				value.WriteByte('\\')
			}
		}
		value.WriteByte(c)
	}
}
