package stmt

import (
	"fmt"
	"unicode/utf8"
)

// Uncertain is about a text that servers may read differently from this package.
type Uncertain struct {
	At     int // byte offset
	Byte   byte
	Reason string
}

func (u *Uncertain) Error() string {
	return fmt.Sprintf("byte 0x%02x at position %d: %s", u.Byte, u.At+1, u.Reason)
}

// uncertain stops reading.
func (l *Lexed) uncertain(at int, reason string) {
	u := &Uncertain{At: at, Reason: reason}
	if at < len(l.Text) {
		u.Byte = l.Text[at]
	}
	l.Err = u
}

func (l *Lexed) uncertainByte(c byte) {
	switch c {
	case '\\':
		l.uncertain(l.pos, "a backslash outside quotes: write NULL for \\N")
	case '[':
		l.uncertain(l.pos, "a bracket outside quotes: quote names with backquotes")
	default:
		l.uncertain(l.pos, "a control character outside quotes: write a blank, or quote the text around it")
	}
}

// readName is wordEnd, except that it refuses uncertain letters.
func (l *Lexed) readName(start int) int {
	t, i, seen := l.Text, start, byte(0)
	for i < len(t) && inName(t[i]) {
		seen |= t[i]
		i++
	}
	if seen >= utf8.RuneSelf {
		l.certainName(start, i)
	}
	return i
}

// certainName checks letters beyond ASCII. In UTF-8 they are letters on every server, and names don't contain four-byte
// characters. In other character sets some are blanks on some servers.
func (l *Lexed) certainName(start, end int) bool {
	if l.Mode&NotUTF8 != 0 {
		for l.Text[start] < utf8.RuneSelf {
			start++
		}
		l.uncertain(start, "outside quotes, in a character set that is not UTF-8: SET NAMES utf8mb4, or quote it")
		return false
	}
	return l.certainUTF8(start, end)
}

func (l *Lexed) certainUTF8(start, end int) bool {
	for i := start; i < end; {
		r, n := utf8.DecodeRune(l.Text[i:end])
		switch {
		case r == utf8.RuneError && n <= 1:
			l.uncertain(i, "no UTF-8 outside strings: write names in the session's character set")
			return false
		case n > 3:
			l.uncertain(i, "a character of four bytes in a name, which servers can't hold: write another one")
			return false
		}
		i += n
	}
	return true
}

// certainQuoted checks a quoted name's letters beyond ASCII. Servers convert names to UTF-8 from every character set
// except binary. A server converts the name behind USE.
func (l *Lexed) certainQuoted(start, end int) bool {
	switch {
	case l.Mode&NotUTF8 == 0:
		return l.certainUTF8(start, end)
	case l.Mode&RawNames != 0 || l.uses():
		return true
	}
	for l.Text[start] < utf8.RuneSelf {
		start++
	}
	l.uncertain(start, "in a name, in a character set that is not UTF-8: SET NAMES utf8mb4")
	return false
}

// uses reports whether a text begins with USE.
func (l *Lexed) uses() bool {
	scan := tokens{l: l}
	verb, ok := scan.next()
	return ok && l.is(verb, "use")
}

// variable reads @name, @@name, or the @ of @'name', whose name isn't in the key.
func (l *Lexed) variable() {
	t, i := l.Text, l.pos+1
	if i < len(t) && t[i] == '@' {
		i++
	}
	quoted := i < len(t) && class[t[i]] == quoteByte
	if i == len(t) || !quoted && !inName(t[i]) && t[i] != '.' {
		l.uncertain(l.pos, "an @ without a name: write the name right behind it")
		return
	}
	l.touch()
	if l.insert == betweenRows {
		l.insert = notInsert
	}
	l.Uncacheable = l.Uncacheable || quoted && !l.Mode.names(t[i])
	l.pos = l.readName(i)
}
